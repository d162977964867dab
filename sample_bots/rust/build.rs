//! Makes the messages of the .proto files: of $CUTPURSE_PROTO, of ./proto, or of the checkout that this folder lies in.

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    println!("cargo:rerun-if-env-changed=CUTPURSE_PROTO");
    let named = std::env::var_os("CUTPURSE_PROTO").map(PathBuf::from);
    let folders = named.into_iter().chain(["proto", "../../proto"].map(PathBuf::from));
    let proto = folders.into_iter().find(|folder| folder.join("cutpurse/v1/arena.proto").exists());
    let proto = proto.expect("CUTPURSE_PROTO is the folder that holds cutpurse/v1/arena.proto");
    prost_build::compile_protos(
        &["cutpurse/v1/arena.proto", "cutpurse/v1/game.proto"].map(|file| proto.join(file)),
        &[&proto],
    )
}

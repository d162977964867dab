#!/bin/sh
# Makes out/bot.jar of the Java files here and the .proto files, from what Debian ships: debian.txt. Nothing is fetched.
set -eu
cd "$(dirname "$0")"

jars=/usr/share/java # where Debian puts Java libraries
needed=''            # of them, to run
missing=''
lacks() { missing="$missing, $1 (apt install $2)"; }
tool() { command -v "$1" > /dev/null || lacks "$1" "$2"; }
library() { # library PACKAGE NAME...
    package=$1
    shift
    for name in "$@"; do
        needed="$needed $jars/$name.jar"
        [ -f "$jars/$name.jar" ] || { lacks "$name.jar" "$package"; break; }
    done
}
tool javac default-jdk-headless
tool protoc protobuf-compiler
tool grpc_java_plugin protobuf-compiler-grpc-java-plugin
library libgrpc-java grpc-api grpc-context grpc-core grpc-netty grpc-protobuf grpc-protobuf-lite grpc-stub
library libnetty-java netty-buffer netty-codec netty-codec-http netty-codec-http2 netty-common netty-handler \
    netty-handler-proxy netty-resolver netty-transport
library libprotobuf-java protobuf
library libgoogle-common-protos-java proto-google-common-protos
library libguava-java guava
library libgoogle-gson-java gson
library libperfmark-java perfmark-api
annotations=$jars/geronimo-annotation-1.3-spec.jar # to compile only
[ -f "$annotations" ] || lacks "${annotations##*/}" libgeronimo-annotation-1.3-spec-java

proto=${CUTPURSE_PROTO:-}
for folder in proto ../../proto; do
    [ -n "$proto" ] || [ ! -f "$folder/cutpurse/v1/arena.proto" ] || proto=$folder
done
[ -f "$proto/cutpurse/v1/arena.proto" ] ||
    missing="$missing, cutpurse/v1/arena.proto (CUTPURSE_PROTO is the folder that holds it)"

if [ -n "$missing" ]; then
    echo "missing: ${missing#, }" >&2
    exit 69
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p out "$work/classes"
protoc -I "$proto" --java_out="$work" --grpc_out="$work" --plugin=protoc-gen-grpc="$(command -v grpc_java_plugin)" \
    cutpurse/v1/arena.proto cutpurse/v1/game.proto

# The flags of Java keep it small and quick to start; the -XD one lets sun.misc.Signal pass without a word.
class_path=$(echo "$needed" "$annotations" | tr ' ' ':')
javac -J-Xmx512m -J-XX:+UseSerialGC -J-XX:TieredStopAtLevel=1 -XDignore.symbol.file -nowarn -proc:none \
    -cp "$class_path" -d "$work/classes" ./*.java "$work"/cutpurse/v1/*.java

# The libraries stay where they are: the manifest says where. No line of it may have more than 72 bytes.
{
    echo 'Main-Class: Bot'
    echo 'Class-Path: '
    for jar in $needed; do echo "  file:$jar"; done
} > "$work/manifest"
jar cfm out/bot.jar "$work/manifest" -C "$work/classes" .

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.FileRegion;
import io.netty.channel.nio.AbstractNioByteChannel;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/**
 * A unix socket for gRPC, made of what Java itself has since version 16. Netty's own needs a native library, which
 * Debian does not ship, and its usual channel is for TCP alone. A bot that a server runs has no other way to it.
 */
final class UnixChannel extends AbstractNioByteChannel {
  private final ChannelConfig config =
      new DefaultChannelConfig(this) {
        @Override
        public <T> boolean setOption(ChannelOption<T> option, T value) {
          return super.setOption(option, value) || true; // those of TCP mean nothing here
        }
      };

  UnixChannel() {
    super(null, unixSocket());
  }

  private static SocketChannel unixSocket() {
    try {
      return SocketChannel.open(StandardProtocolFamily.UNIX);
    } catch (IOException problem) {
      throw new ChannelException(problem);
    }
  }

  @Override
  public ChannelConfig config() {
    return config;
  }

  @Override
  public boolean isActive() {
    return javaChannel().isOpen() && javaChannel().isConnected();
  }

  @Override
  protected SocketChannel javaChannel() {
    return (SocketChannel) super.javaChannel();
  }

  @Override
  protected boolean doConnect(SocketAddress remote, SocketAddress local) throws IOException {
    boolean isConnected = javaChannel().connect(remote);
    if (!isConnected) {
      selectionKey().interestOps(SelectionKey.OP_CONNECT);
    }
    return isConnected;
  }

  @Override
  protected void doFinishConnect() throws IOException {
    javaChannel().finishConnect();
  }

  @Override
  protected int doReadBytes(ByteBuf buffer) throws IOException {
    var handle = unsafe().recvBufAllocHandle();
    handle.attemptedBytesRead(buffer.writableBytes());
    return buffer.writeBytes(javaChannel(), handle.attemptedBytesRead());
  }

  @Override
  protected int doWriteBytes(ByteBuf buffer) throws IOException {
    return buffer.readBytes(javaChannel(), buffer.readableBytes());
  }

  @Override
  protected void doClose() throws Exception {
    super.doClose();
    javaChannel().close();
  }

  @Override
  protected void doDisconnect() throws Exception {
    doClose();
  }

  @Override
  protected ChannelFuture shutdownInput() {
    return close();
  }

  @Override
  protected boolean isInputShutdown0() {
    return !isActive();
  }

  @Override
  protected SocketAddress localAddress0() {
    return null; // a client's has no name
  }

  @Override
  protected SocketAddress remoteAddress0() {
    try {
      return javaChannel().getRemoteAddress();
    } catch (IOException gone) {
      return null;
    }
  }

  @Override
  protected void doBind(SocketAddress local) {
    throw new UnsupportedOperationException("a client is not bound");
  }

  @Override
  protected long doWriteFileRegion(FileRegion region) {
    throw new UnsupportedOperationException("gRPC sends no files");
  }
}

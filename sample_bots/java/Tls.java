import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.ApplicationProtocolNegotiator;
import io.netty.handler.ssl.SslContext;
import java.io.FileInputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * TLS for gRPC, by Java itself. Debian's netty leaves out what tells the server that HTTP/2 is to be spoken, which
 * servers of gRPC insist on; with another netty, GrpcSslContexts does the same. That the certificate is of this host
 * is checked by gRPC.
 */
final class Tls extends SslContext {
  private static final String HTTP_2 = "h2";
  private final SSLContext context;

  /** Trusts the certificates in this file, PEM, or if there is none those that Java trusts. */
  Tls(String file) throws IOException, GeneralSecurityException {
    KeyStore trusted = null;
    if (!file.isEmpty()) {
      trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null);
      try (var pem = new FileInputStream(file)) {
        for (var certificate : CertificateFactory.getInstance("X.509").generateCertificates(pem)) {
          trusted.setCertificateEntry("authority " + trusted.size(), certificate);
        }
      }
    }
    TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
  }

  @Override
  public SSLEngine newEngine(ByteBufAllocator buffers, String host, int port) {
    SSLEngine engine = context.createSSLEngine(host, port);
    engine.setUseClientMode(true);
    SSLParameters parameters = engine.getSSLParameters();
    parameters.setApplicationProtocols(new String[] {HTTP_2});
    engine.setSSLParameters(parameters);
    return engine;
  }

  @Override
  public SSLEngine newEngine(ByteBufAllocator buffers) {
    throw new UnsupportedOperationException("for a host only");
  }

  @Override
  @SuppressWarnings("deprecation") // of what SslContext wants
  public ApplicationProtocolNegotiator applicationProtocolNegotiator() {
    List<String> spoken = Arrays.asList(HTTP_2, null); // null: netty cannot ask this engine what was agreed on
    return () -> spoken;
  }

  @Override
  public boolean isClient() {
    return true;
  }

  @Override
  public List<String> cipherSuites() {
    return List.of(context.getDefaultSSLParameters().getCipherSuites());
  }

  @Override
  public long sessionCacheSize() {
    return sessionContext().getSessionCacheSize();
  }

  @Override
  public long sessionTimeout() {
    return sessionContext().getSessionTimeout();
  }

  @Override
  public SSLSessionContext sessionContext() {
    return context.getClientSessionContext();
  }
}

package import NIOCore
package import NIOSSL

extension ChannelPipeline.SynchronousOperations {
    /// Adds TLS to a connection that was just accepted.
    /// - Parameters:
    ///   - checksCertificates: Whether the handshake fails for a client certificate that is not trusted. Otherwise it only proves that the
    ///     client has the key, and the certificate is checked later.
    ///   - deadline: The longest handshake; `nil` where another handler limits it.
    package func addTLS(_ context: NIOSSLContext, checksCertificates: Bool, deadline: TimeAmount?) throws {
        if checksCertificates {
            try self.addHandler(NIOSSLServerHandler(context: context))
        } else {
            let handler = NIOSSLServerHandler(
                context: context,
                customVerificationCallback: { _, verified in verified.succeed(.certificateVerified) }
            )
            try self.addHandler(handler)
        }
        if let deadline { try self.addHandler(HandshakeDeadlineHandler(deadline: deadline)) }
    }
}

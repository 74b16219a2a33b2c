package import Logging
package import NIOCore
package import NIOSSL

/// The TLS settings of the listeners for the binary protocol and legacy feedback (reference 7.10 rows 8 and 9).
package enum LegacyTLS {
    /// Returns the configuration for a legacy listener. It requires a client certificate, but not ALPN or SNI.
    ///
    /// TLS 1.2 is the newest allowed version, because the library cannot disable the session tickets that follow a TLS
    /// 1.3 handshake. A client that polls its socket would take the tickets for an error packet.
    /// - Parameters:
    ///   - server: The configuration with the server's certificate.
    ///   - providerAuthority: The certificate authorities that issue provider certificates. The list may be empty.
    ///   - allowsOldTLS: Whether TLS 1.0 and 1.1 are allowed, for clients that support nothing newer. Default `false`.
    package static func configuration(
        server: TLSConfiguration,
        providerAuthority: [NIOSSLCertificate],
        allowsOldTLS: Bool = false
    ) -> TLSConfiguration {
        var tls = server
        tls.applicationProtocols = []
        tls.certificateVerification = .noHostnameVerification
        tls.trustRoots = .certificates(providerAuthority)
        tls.sendCANameList = true
        tls.minimumTLSVersion = allowsOldTLS ? .tlsv1 : .tlsv12
        tls.maximumTLSVersion = .tlsv12
        return tls
    }

    /// Returns the client's certificate in DER, or `nil` for none. This method must be called on the channel's event
    /// loop.
    package static func peerCertificate(_ channel: any Channel) -> [UInt8]? {
        let tls = try? channel.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self)
        return try? tls?.peerCertificate?.toDERBytes()
    }

    /// Returns log metadata about a failed handshake, because the client itself learns little about the failure.
    package static func metadata(_ error: any Error, _ listener: String) -> Logger.Metadata {
        ["listener": "\(listener)", "reason": "\(error)"]
    }
}

import Logging
import NIOCore
import NIOSSL

/// TLS of the two legacy doors (reference 7.10 rows 8 and 9).
enum LegacyTLS {
    /// What the doors' ``Listener`` takes: a client certificate is demanded, nothing is negotiated, no server name asked.
    ///
    /// TLS 1.2 at most, as the library cannot be told to send no session tickets after a TLS 1.3 handshake, which look
    /// like an error packet to clients that ask the system whether there is something to read.
    /// - Parameters:
    ///   - server: shows the gateway's certificate.
    ///   - providerAuthority: signs the certificates of providers.
    ///   - allowsOldTLS: TLS 1.0 and 1.1, for clients that can do no better; off by default.
    static func configuration(
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

    /// What the client has shown, in DER.
    static func peerCertificate(_ context: ChannelHandlerContext) -> [UInt8]? {
        self.peerCertificate(context.channel)
    }

    /// Describes a failed handshake for the log: the client learns little of it.
    static func note(_ error: any Error, _ door: String) -> Logger.Metadata {
        ["door": "\(door)", "reason": "\(error)"]
    }

    /// The same, for whoever is not a handler.
    static func peerCertificate(_ channel: any Channel) -> [UInt8]? {
        let tls = try? channel.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self)
        return try? tls?.peerCertificate?.toDERBytes()
    }
}

import NIOCore
import NIOSSL

extension PushServiceEndpoint {
    /// The value of `:authority`, without the port if that is 443.
    var authority: String {
        let host = self.host.contains(":") ? "[\(self.host)]" : self.host
        return self.port == 443 ? host : "\(host):\(self.port)"
    }

    /// Indicates whether a text has certificates in PEM, as ``additionalTrustRoots`` needs them.
    package static func hasCertificates(_ pem: String) -> Bool {
        (try? NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)))?.isEmpty == false
    }

    /// Returns a configuration with TLS 1.2 or newer and ALPN `h2` (reference 1.2).
    ///
    /// - Throws: An error of swift-nio-ssl when the additional trust roots are not PEM certificates.
    func tlsConfiguration() throws -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = ["h2"]
        if let roots = self.additionalTrustRoots {
            tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMBytes(Array(roots.utf8)))]
        }
        return tls
    }
}

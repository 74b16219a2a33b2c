import NIOCore
import NIOSSL

extension PushServiceEndpoint {
    /// Value of `:authority`: the port is left out where it is the usual one.
    var authority: String {
        let host = self.host.contains(":") ? "[\(self.host)]" : self.host
        return self.port == 443 ? host : "\(host):\(self.port)"
    }

    /// TLS 1.2 or newer with ALPN `h2` (reference 1.2).
    ///
    /// - Throws: when the additional trust roots are no PEM certificates.
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

extension String {
    /// Whether this is an IPv4 or IPv6 address in its text form.
    var isIPAddress: Bool {
        (try? SocketAddress(ipAddress: self, port: 0)) != nil
    }
}

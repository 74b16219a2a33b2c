import NIOSSL
public import PushTypes

/// The address of a push service and the certificates that authenticate it.
public struct PushServiceEndpoint: Hashable, Sendable {
    /// The host name or IP address of the push service.
    public var host: String
    /// The port of the push service, by default 443. Apple also listens on 2197 (APNs reference 1.1).
    public var port: Int
    /// The port used when ``port`` cannot be reached, or `nil` to try no other port. Apple's services use 2197.
    ///
    /// The rejection of a credential does not lead to the use of this port. While the fallback port is in use, ``port``
    /// is probed after a minute and then less often, and used again as soon as it works.
    public var fallbackPort: Int?
    /// The PEM certificates that are trusted in addition to the system's, such as that of a gateway's authority, or
    /// `nil` to trust only those.
    public var additionalTrustRoots: String?
    /// The environment for which a certificate must be valid before it is used, or `nil` to leave this check to the
    /// service.
    public var environment: PushEnvironment?
    /// The maximum time for the TCP connection, the proxy's tunnel and the TLS handshake together. Default 10 s. With a
    /// fallback port, each port has half of this time.
    public var connectTimeout: Duration = .seconds(10)

    /// Creates the address of a push service from the values of its properties, without a fallback port.
    public init(
        host: String,
        port: Int = 443,
        additionalTrustRoots: String? = nil,
        environment: PushEnvironment? = nil
    ) {
        (self.host, self.port) = (host, port)
        (self.additionalTrustRoots, self.environment) = (additionalTrustRoots, environment)
    }

    /// Returns the address of Apple's push service, which listens on ports 443 and 2197 (APNs reference 1.1).
    public static func apple(_ environment: PushEnvironment, port: Int = 443) -> Self {
        switch environment {
        case .sandbox: Self(host: "api.sandbox.push.apple.com", port: port, environment: environment)
        case .production: Self(host: "api.push.apple.com", port: port, environment: environment)
        }
    }

    /// Returns the address at which Apple manages broadcast channels (APNs reference 1.1).
    public static func appleChannels(_ environment: PushEnvironment) -> Self {
        switch environment {
        case .sandbox: Self(host: "api-manage-broadcast.sandbox.push.apple.com", port: 2195, environment: environment)
        case .production: Self(host: "api-manage-broadcast.push.apple.com", port: 2196, environment: environment)
        }
    }

    /// The address for managing channels. It is a special address for Apple's push services, and the same address for
    /// any other.
    package var forChannels: Self {
        for environment in PushEnvironment.allCases where self.host == Self.apple(environment).host {
            var channels = Self.appleChannels(environment)
            (channels.additionalTrustRoots, channels.connectTimeout) = (self.additionalTrustRoots, self.connectTimeout)
            return channels
        }
        var channels = self
        channels.fallbackPort = nil
        return channels
    }
}

extension PushServiceEndpoint {
    /// The value of the pseudo-header `:authority`: the host, and the port unless it is 443.
    var authority: String {
        let host = self.host.contains(":") ? "[\(self.host)]" : self.host
        return self.port == 443 ? host : "\(host):\(self.port)"
    }

    /// Returns whether a text contains certificates in PEM, as ``additionalTrustRoots`` requires.
    package static func hasCertificates(_ pem: String) -> Bool {
        (try? NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)))?.isEmpty == false
    }

    /// Returns the TLS configuration for connections, with TLS 1.2 or newer and ALPN `h2` (APNs reference 1.2).
    /// - Throws: An error of swift-nio-ssl if the additional trust roots are not PEM certificates.
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

public import PushTypes

/// Where a push service is, and what proves that it is the right one.
public struct PushServiceEndpoint: Hashable, Sendable {
    public var host: String
    /// 443 by default; Apple also listens on 2197 (reference 1.1).
    public var port: Int
    /// PEM certificates trusted besides the system's, such as a gateway's own authority.
    public var additionalTrustRoots: String?
    /// Checked against the environment that a certificate is made for; `nil` leaves that to the service.
    public var environment: PushEnvironment?
    /// TCP and TLS. Default 10 s.
    public var connectTimeout: Duration = .seconds(10)

    public init(
        host: String,
        port: Int = 443,
        additionalTrustRoots: String? = nil,
        environment: PushEnvironment? = nil
    ) {
        self.host = host
        self.port = port
        self.additionalTrustRoots = additionalTrustRoots
        self.environment = environment
    }

    /// Apple's service for `environment`, on port 443 or 2197.
    public static func apple(_ environment: PushEnvironment, port: Int = 443) -> Self {
        switch environment {
        case .sandbox: Self(host: "api.sandbox.push.apple.com", port: port, environment: environment)
        case .production: Self(host: "api.push.apple.com", port: port, environment: environment)
        }
    }
}

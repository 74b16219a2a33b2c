import ProviderModel
import PushTypes

extension ConfigurationFault {
    /// The pushes that a fault stops.
    enum Scope: Hashable {
        /// The pushes of one notification, which is paused.
        case notification
        /// All pushes of the app in one environment, which is paused once the fault is proven.
        case environment
    }

    /// Decides which pushes the fault stops.
    ///
    /// A rejected topic that is not the app's bundle id is the notification's own, so that other notifications of the app are not
    /// affected. Any other fault is that of the environment.
    /// - Parameters:
    ///   - topic: The topic of the notification.
    ///   - bundleID: The bundle id of the app; `nil` if it is not known.
    func scope(topic: Topic, bundleID: Topic?) -> Scope {
        self.cause == .topicDisallowed && topic != bundleID ? .notification : .environment
    }

    /// Returns the number of proofs that a page has of the fault. Its pushes fail with the same connection, which is one proof.
    /// Each rejection is a proof of its own.
    /// - Parameter pushes: The number of the page's pushes that met the fault.
    func proofs(ofPushes pushes: Int) -> Int { self.cause.isOfConnection ? 1 : pushes }
}

extension ConfigurationFault.Cause {
    /// Indicates whether no connection can be opened.
    var isOfConnection: Bool {
        switch self {
        case .untrustedServer, .clientCertificateRejected, .wrongProtocol, .proxy, .proxyUnavailable, .unknownHost,
            .refused, .unreachable, .timeout, .closed, .noConnection:
            true
        case .credentialRejected, .clock, .credentialExpired, .credentialUnusable, .credentialMissing,
            .topicDisallowed:
            false
        }
    }

    /// Indicates whether the fault affects all apps at the same address: it is a fault of the connection, and not of a client
    /// certificate.
    var isOfAddress: Bool { self.isOfConnection && self != .clientCertificateRejected }
}

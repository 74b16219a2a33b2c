import ProviderModel
import PushTypes

extension ConfigurationFault {
    /// The extent of a fault: the pushes that it stops.
    enum Scope: Hashable {
        /// The pushes of one notification. That notification is paused.
        case notification
        /// All pushes of the app in one environment. The environment is paused once the fault is proven.
        case environment
    }

    /// Returns the extent of the fault: the pushes that it stops.
    ///
    /// A rejected topic other than the app's bundle id is a fault of the notification, so that the app's other
    /// notifications are not affected. Any other fault is a fault of the environment.
    /// - Parameters:
    ///   - topic: The topic of the notification.
    ///   - bundleID: The bundle id of the app, or `nil` if it is not known.
    func scope(topic: Topic, bundleID: Topic?) -> Scope {
        self.cause == .topicDisallowed && topic != bundleID ? .notification : .environment
    }

    /// Returns the number of proofs of the fault in one page of pushes. Several proofs pause the environment. A
    /// connection fault is one proof, because the pushes share the connection. Each rejection is a separate proof.
    /// - Parameter pushes: The number of the page's pushes that met the fault.
    func proofs(ofPushes pushes: Int) -> Int { self.cause.isOfConnection ? 1 : pushes }
}

extension ConfigurationFault.Cause {
    /// A Boolean value that indicates whether the fault prevents connections to the push service.
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

    /// A Boolean value that indicates whether the fault affects every app that uses the push service's address, as all
    /// connection faults do except a rejected client certificate.
    var isOfAddress: Bool { self.isOfConnection && self != .clientCertificateRejected }
}

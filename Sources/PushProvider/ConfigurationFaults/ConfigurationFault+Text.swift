package import ProviderModel
package import PushTypes

extension ConfigurationFault {
    /// The description of the fault and the address at which it happened, in one sentence.
    package var description: String {
        let place = self.host.map { "\($0):\(self.port.map(String.init) ?? "")" } ?? "the push service"
        switch self.cause {
        case .credentialRejected: return "\(place) rejects the credential: \(self.detail)"
        case .clock: return "\(place) calls new provider tokens too old: \(self.detail)"
        case .credentialExpired, .credentialUnusable: return self.detail
        case .credentialMissing: return "the app has \(self.detail)"
        case .topicDisallowed: return "\(place) does not allow the credential this topic: \(self.detail)"
        case .wrongProtocol: return "\(place) is no push service: \(self.detail)"
        default: return "no connection to \(place): \(self.detail)"
        }
    }

    /// Returns the remedy for the fault, in one sentence. The commands in it name `app`, or `APP` if `app` is `nil`.
    package func advice(app: Topic?, _ environment: PushEnvironment) -> String {
        let set = "martlet credential set \(environment.rawValue) FILE --app \(app?.name ?? "APP")"
        switch self.cause {
        case .credentialRejected, .credentialExpired, .credentialUnusable, .credentialMissing,
            .clientCertificateRejected:
            return "Set a valid credential of the app's team for this environment: \(set)"
        case .clock: return "Correct the clock of this machine: provider tokens carry its time."
        case .topicDisallowed:
            return "Set a credential of the team that owns the bundle id, or add the app under its right bundle id."
        case .untrustedServer:
            return "Trust the authority of the push service: start 'martlet serve' with --service-authority and "
                + "its certificate, or correct the host name."
        case .wrongProtocol: return "Correct the address of the push service: HTTP/2 over TLS is expected there."
        case .proxy: return "Correct the proxy's address or its password, or allow it to reach the push service."
        case .proxyUnavailable: return "Start the proxy, or correct its address; see its own log."
        case .unknownHost: return "Correct the host name of the push service, or the name server of this machine."
        case .refused: return "Start the push service, or correct its host and port."
        case .unreachable, .timeout: return "Allow connections to this host and port in the network and its firewalls."
        case .closed, .noConnection: return "See the push service's own log, and check its host and port."
        }
    }
}

import ProviderModel
import PushSender
import PushTypes

extension ConfigurationFault {
    /// Creates the fault that an outcome proves. The result is `nil` if the push was accepted, its response was lost,
    /// or its rejection or failure concerns this push only.
    /// - Parameter endpoint: The push service to which the push was sent.
    init?(_ outcome: Outcome, at endpoint: PushServiceEndpoint) {
        switch outcome {
        case .accepted, .unknown: return nil
        case .rejected(let rejection):
            guard let cause = rejection.faultCause else { return nil }
            let detail = rejection.reasonText.isEmpty ? "HTTP status \(rejection.status)" : rejection.reasonText
            self.init(cause, detail: detail, host: endpoint.host, port: endpoint.port)
        case .notSent(let failure): self.init(failure, at: endpoint)
        }
    }

    /// Creates the fault that a failure to send proves. The result is `nil` if neither connection nor credential is the
    /// cause.
    init?(_ failure: Outcome.Failure, at endpoint: PushServiceEndpoint) {
        if let reason = failure.reason, let cause = Rejection(status: reason.status, reasonText: reason.text).faultCause
        {
            self.init(cause, detail: reason.text, host: endpoint.host, port: endpoint.port)
        } else if let fault = failure.fault {
            self.init(fault.cause.faultCause, detail: failure.description, host: fault.host, port: fault.port)
        } else {
            return nil
        }
    }
}

extension Rejection {
    /// The cause of a rejection that would affect every push, or `nil` for a rejection of one push or its token.
    fileprivate var faultCause: ConfigurationFault.Cause? {
        switch self.reason {
        case .expiredProviderToken: .clock
        case .badTopic, .missingTopic, .topicDisallowed, .topicMismatch: .topicDisallowed
        case .badPath, .methodNotAllowed: .wrongProtocol
        default:
            if self.advice != .fixConfiguration {
                nil
            } else if self.status == 403 {
                .credentialRejected
            } else {
                .wrongProtocol
            }
        }
    }
}

extension ConnectionFault.Cause {
    fileprivate var faultCause: ConfigurationFault.Cause {
        switch self {
        case .unknownHost: .unknownHost
        case .refused: .refused
        case .unreachable: .unreachable
        case .timeout: .timeout
        case .untrustedServer: .untrustedServer
        case .wrongProtocol: .wrongProtocol
        case .clientCertificateRejected: .clientCertificateRejected
        case .proxy: .proxy
        case .proxyUnavailable: .proxyUnavailable
        case .closed: .closed
        case .other: .noConnection
        }
    }
}

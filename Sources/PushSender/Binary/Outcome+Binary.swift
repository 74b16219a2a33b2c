import PushProtocol

extension Outcome {
    /// What a final state on the legacy interface means to the provider.
    /// - Parameter lastFailure: why the last connection came to nothing, if that is known.
    init(_ state: BinaryClientMachine.FinalState, id: String, lastFailure: String?) {
        self =
            switch state {
            case .accepted: .accepted(.init(id: id))
            case .failed(let status): .rejected(Rejection(status))
            case .notSent(.withdrawn): .notSent(.init("the caller was cancelled"))
            case .notSent(.timedOut):
                .notSent(.init("no connection took the notification in time: \(lastFailure ?? "too much was waiting")"))
            case .notSent(.connectionRefused(let status)):
                .notSent(.init("the push service refused the connection: \(status.text)"))
            case .unknown(.connectionLost):
                .unknown(
                    .init("the connection ended without an answer: \(lastFailure ?? "closed by the push service")")
                )
            case .unknown(.unknownIdentifier(let packet)):
                .unknown(
                    .init("\(packet.status.text), for a notification that is not remembered: \(packet.identifier)")
                )
            case .unknown(.malformedPacket):
                .unknown(.init("the peer does not speak the legacy interface"))
            }
    }
}

extension Rejection {
    /// The reason that alone has this status byte (table of ``Reason``); if there is none or several, the status in
    /// words, with the HTTP status of the same consequence.
    init(_ status: BinaryStatus) {
        let reasons = Reason.allCases.filter { $0.legacyStatus == status.rawValue }
        if reasons.count == 1, let reason = reasons.first {
            self.init(status: reason.status, reasonText: reason.text)
        } else {
            let code =
                switch status {
                case .invalidPayloadSize: 413
                default:
                    switch status.scope {
                    case .service: 503
                    case .connection: 403
                    case .none, .notification: 400
                    }
                }
            self.init(status: code, reasonText: status.text)
        }
    }
}

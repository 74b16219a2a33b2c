import PushTypes
import PushWire

extension Outcome {
    /// What a final state on the legacy interface means to the provider.
    /// - Parameter lastFailure: why the last connection came to nothing, if that is known.
    init(_ state: BinaryClientStateMachine.FinalState, id: String, lastFailure: String?) {
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
    /// The reason of the HTTP/2 interface with the same consequence; the status in words where there is none.
    init(_ status: BinaryStatus) {
        let reason: Reason? =
            switch status {
            case .missingDeviceToken: .missingDeviceToken
            case .missingTopic: .missingTopic
            case .missingPayload: .payloadEmpty
            case .invalidTokenSize, .invalidToken: .badDeviceToken
            case .invalidTopicSize: .badTopic
            case .invalidPayloadSize: .payloadTooLarge
            case .processingError: .internalServerError
            default: nil
            }
        self.init(status: reason?.status ?? 400, reasonText: reason?.text ?? status.text)
    }
}

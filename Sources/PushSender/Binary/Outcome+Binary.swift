import PushTypes
import PushWire

extension Outcome {
    /// Creates the outcome for the final state of a notification in the binary protocol.
    /// - Parameters:
    ///   - lastFailure: The text of the last connection's error, or `nil` if there was none.
    ///   - fault: The reason why the last connection could not be opened, or `nil` if it could.
    init(
        _ state: BinaryClientStateMachine.FinalState,
        id: String,
        lastFailure: String?,
        fault: ConnectionFault? = nil
    ) {
        self =
            switch state {
            case .accepted: .accepted(.init(id: id))
            case .failed(let status): .rejected(Rejection(status))
            case .notSent(.withdrawn): .notSent(.init("the caller was cancelled"))
            case .notSent(.timedOut):
                .notSent(
                    .init(
                        "no connection took the notification in time: \(lastFailure ?? "too much was waiting")",
                        fault: fault
                    )
                )
            case .notSent(.connectionRejected(let status)):
                .notSent(
                    .init("the push service rejected the connection: \(status.text)", reason: Rejection(status).reason)
                )
            case .notSent(.queueFull): .notSent(.init("too many notifications are waiting"))
            case .unknown(.connectionLost):
                .unknown(
                    .init("the connection ended without a response: \(lastFailure ?? "closed by the push service")")
                )
            case .unknown(.unknownIdentifier(let packet)):
                .unknown(
                    .init("\(packet.status.text), for a notification that is not remembered: \(packet.identifier)")
                )
            case .unknown(.malformedPacket): .unknown(.init("the server does not speak the binary protocol"))
            }
    }
}

extension Rejection {
    /// Creates the rejection for a status of the binary protocol. Its reason is the one over HTTP/2 with the same
    /// consequence, or the text of the status if there is no such reason.
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

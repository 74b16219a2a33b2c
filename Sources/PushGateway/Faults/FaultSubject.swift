import PushTypes

/// A door at which the gateway can be told to misbehave.
enum FaultListener: String, CaseIterable, Hashable, Sendable {
    case http2, binary, feedback, courier
}

/// A moment at which a door asks the ``FaultPlan`` what to do.
enum FaultPoint: UInt8, CaseIterable, Hashable, Sendable {
    /// A connection was accepted; nothing is known of the peer yet.
    case connection
    /// A push, or another request of a provider, is complete and not answered yet.
    case request
    /// A message is about to leave for a device.
    case delivery
    /// A device has acknowledged a message.
    case acknowledgement
    /// A provider is about to be told the feedback list.
    case feedback
}

/// What a door knows of the request, message or connection that a fault could meet.
struct FaultSubject: Hashable, Sendable {
    var door: FaultListener
    var environment: PushEnvironment
    var topic: Topic?
    var token: DeviceToken?
    /// The provider's key id, or the serial number of its certificate in hexadecimal.
    var credential: String?
    /// Which of its connection it is, counted from 1: of the requests, or of the messages to a device.
    var ordinal = 1
}

extension FaultSubject {
    /// A message to a device.
    init(door: FaultListener, environment: PushEnvironment, message: Message?, ordinal: Int = 1) {
        self.init(
            door: door,
            environment: environment,
            topic: message?.notification.topic,
            token: message.flatMap { DeviceToken(bytes: $0.token) },
            ordinal: ordinal
        )
    }
}

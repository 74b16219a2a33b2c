import PushTypes

/// A listener with faults. The raw values are those of the member `door` of a rule.
enum FaultListener: String, CaseIterable, Hashable, Sendable {
    case http2, binary, feedback
    case deviceLink = "courier"
}

/// A point in the processing at which the ``FaultPlan`` decides.
enum FaultPoint: UInt8, CaseIterable, Hashable, Sendable {
    /// A connection was accepted. Nothing is known of the peer yet.
    case connection
    /// A request of a provider is complete and has no response yet.
    case request
    /// A message is about to be sent to a device.
    case delivery
    /// A device has acknowledged a message.
    case acknowledgement
    /// A feedback list is about to be sent to a provider.
    case feedback
}

/// The request, message or connection to which a fault could apply, as far as its listener knows it.
struct FaultSubject: Hashable, Sendable {
    var listener: FaultListener
    var environment: PushEnvironment
    var topic: Topic?
    var token: DeviceToken?
    /// The provider's key id, or its certificate's serial number in hexadecimal.
    var credential: String?
    /// The number of the request, or of the message to a device, on its connection, from 1.
    var ordinal = 1
}

extension FaultSubject {
    /// Describes a message to a device.
    init(listener: FaultListener, environment: PushEnvironment, message: Message?, ordinal: Int = 1) {
        self.init(
            listener: listener,
            environment: environment,
            topic: message?.notification.topic,
            token: message.flatMap { DeviceToken(bytes: $0.token) },
            ordinal: ordinal
        )
    }
}

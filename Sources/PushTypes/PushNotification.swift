public import NIOCore

/// One notification as the provider API carries it, apart from the device token it is sent to.
public struct PushNotification: Hashable, Sendable {
    /// Longest `apns-collapse-id`, in bytes (reference 1.5).
    public static let maximumCollapseIDLength = 64
    /// Largest payload of a broadcast, in bytes (reference 3.6).
    public static let maximumBroadcastSize = 5120

    /// Header `apns-id`: a UUID in canonical form, in the letter case the sender used.
    public var id: String
    public var topic: Topic
    /// `nil` where the header is left out.
    public var pushType: PushType?
    public var priority: Priority
    public var expiration: Expiration
    public var collapseID: String?
    /// The JSON text.
    public var payload: ByteBuffer

    public init(
        id: String,
        topic: Topic,
        pushType: PushType? = .alert,
        priority: Priority = .immediate,
        expiration: Expiration = .servicePolicy,
        collapseID: String? = nil,
        payload: ByteBuffer
    ) {
        self.id = id
        self.topic = topic
        self.pushType = pushType
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.payload = payload
    }
}

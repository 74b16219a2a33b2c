package import NIOCore

/// One notification as the provider API carries it, apart from the device token it is sent to.
package struct PushNotification: Hashable, Sendable {
    /// Longest `apns-collapse-id`, in bytes (reference 1.5).
    package static let maximumCollapseIDLength = 64

    /// Header `apns-id`: a UUID in canonical form, in the letter case the sender used.
    package var id: String
    package var topic: Topic
    /// `nil` where the header is left out.
    package var pushType: PushType?
    package var priority: Priority
    package var expiration: Expiration
    package var collapseID: String?
    /// The JSON text.
    package var payload: ByteBuffer

    package init(
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

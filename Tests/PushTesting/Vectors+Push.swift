import NIOCore
package import PushTypes

extension Vectors {
    /// Returns a push with the values of the vectors.
    package static func push(
        id: String = "eabeae54-14a8-11e5-b60b-1697f925ec7b",
        topic: String = bundleID,
        expiration: Expiration = .immediate,
        collapseID: String? = nil,
        payload: String = payload,
        token: String = tokenA
    ) -> Push {
        guard let topic = Topic(topic), let token = DeviceToken(hex: token) else {
            preconditionFailure("the vectors are valid")
        }
        return Push(
            PushNotification(
                id: id,
                topic: topic,
                expiration: expiration,
                collapseID: collapseID,
                payload: ByteBuffer(string: payload)
            ),
            to: token
        )
    }
}

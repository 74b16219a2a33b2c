package import Foundation
package import PushDevice

/// A push as it reaches the phone, its payload unread.
package struct PhonePush: Hashable, Sendable {
    /// `apns-id`; `nil` from a push service that does not hand it over.
    package var apnsID: String?
    package var pushType: String?
    package var collapseID: String?
    /// The broadcast channel; `nil` for a push to a token.
    package var channelID: String?
    /// The payload as the provider sent it.
    package var payload: Data

    package init(
        apnsID: String? = nil,
        pushType: String? = nil,
        collapseID: String? = nil,
        channelID: String? = nil,
        payload: Data
    ) {
        (self.apnsID, self.pushType, self.collapseID) = (apnsID, pushType, collapseID)
        (self.channelID, self.payload) = (channelID, payload)
    }

    /// Makes the push of a notification that the device link has delivered.
    package init(_ notification: ReceivedNotification) {
        self.init(
            apnsID: notification.apnsID,
            pushType: notification.pushType,
            collapseID: notification.collapseID,
            channelID: notification.channelID,
            payload: notification.payload
        )
    }
}

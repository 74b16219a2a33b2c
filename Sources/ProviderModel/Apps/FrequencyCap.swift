package import PushTypes

/// The maximum number of notifications that a user receives in a sliding window. The user gets no others.
package struct FrequencyCap: Hashable, Sendable {
    package static let maximumCount: Int64 = 1000
    /// The maximum length of the window, in seconds.
    package static let maximumWindow: Int64 = 30 * 86_400

    package var count: Int
    /// The length of the window, in seconds.
    package var window: Int64

    package init(count: Int, window: Int64) { (self.count, self.window) = (count, window) }
}

/// A request to count a notification towards the frequency caps of some recipients, before it is sent to them.
package struct FrequencyCapReservation: Hashable, Sendable {
    package var cap: FrequencyCap
    package var app: Int64
    /// The number of the notification that is counted.
    package var notification: Int64
    /// The holders of the caps: the ids of users, or keys for devices without a user.
    package var holders: Set<BytewiseString>
    /// The time of the reservation, by the steady clock.
    package var now: Timestamp

    package init(_ cap: FrequencyCap, app: Int64, notification: Int64, holders: Set<BytewiseString>, now: Timestamp) {
        (self.cap, self.app, self.notification) = (cap, app, notification)
        (self.holders, self.now) = (holders, now)
    }
}

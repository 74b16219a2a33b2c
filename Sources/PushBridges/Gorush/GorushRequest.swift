import Foundation
import PushSupport

/// The body of `POST /api/push`.
struct GorushRequest: Hashable, Sendable {
    /// The longest body, in bytes.
    static let maximumBody = 8 * 1024 * 1024
    /// The most tokens of all notifications of a request together. gorush has no limit.
    static let maximumTokens = 50_000
    /// The most notifications of a request, unless the bridge has another number.
    static let standardNotifications = 100

    /// The notifications for iOS. Those for other platforms are dropped, as by a server that has these switched off.
    let notifications: [GorushNotification]
    /// The longest entries for the tokens of all notifications in a response, in bytes, also for those that are dropped.
    let longestEntries: Int

    /// - Parameter maximum: The most notifications, those for other platforms included.
    init(_ body: Data, maximum: Int = Self.standardNotifications) throws(GorushError) {
        guard let json = try? JSONValue(parsing: body) else { throw .missing }
        guard let entries = try GorushFields(json).array("notifications") else { throw .missing }
        guard !entries.isEmpty else { throw .empty }
        var all: [GorushNotification] = []
        // Every entry is read before any is counted, as the first error of a type is that of the whole request.
        for entry in entries { all.append(try GorushNotification(GorushFields(entry))) }
        guard all.count <= maximum else { throw .tooMany(all.count, limit: maximum) }
        let notifications = all.filter { $0.platform == GorushNotification.iOS }
        let tokens = notifications.reduce(0) { $0 + $1.tokens.count }
        guard tokens <= Self.maximumTokens else { throw .tooManyTokens(tokens, limit: Self.maximumTokens) }
        (self.notifications, self.longestEntries) = (notifications, all.reduce(0) { $0 + $1.longestEntries })
    }

    /// The number in the response: one for each token, and one for each topic.
    var count: Int { self.notifications.reduce(0) { $0 + $1.count } }
}

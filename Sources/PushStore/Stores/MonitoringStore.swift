package import Foundation
package import PushTypes

/// The part of the store that operators monitor: certificates that end, and changes of tokens.
package protocol MonitoringStore: Sendable {
    /// Returns the certificates of all apps, without signing keys and without those that cannot be read.
    func certificates() async throws -> [StoredCertificate]
    /// Notes the announcement of a certificate's end, unless the certificate was replaced or a later stage was announced,
    /// and adds the event for webhooks.
    /// - Parameters:
    ///   - stage: The number of days that are left at most.
    ///   - event: The event, as ``EventBlock/events``.
    /// - Returns: `true` if it is to be announced.
    func announceEnd(
        of certificate: StoredCertificate,
        stage: Int,
        event: Data,
        now: Timestamp
    ) async throws -> Bool
    /// Counts the token events with ids above `id`, or the first of them if there are very many.
    /// - Parameter id: The last event that was counted; `nil` counts none and returns the last id.
    func tokenEvents(after id: Int64?) async throws -> (counts: [TokenEventCount], last: Int64)
    /// Reads the states of campaigns: those after `newest`, and those of `open`.
    /// - Parameters:
    ///   - newest: The number of the newest notification that was seen; `nil` reads the campaigns that have not ended.
    ///   - limit: The most campaigns of each.
    func campaigns(after newest: Int64?, and open: [Int64], limit: Int) async throws -> CampaignReading
}

/// The states of campaigns at one time.
package struct CampaignReading: Hashable, Sendable {
    package var campaigns: [CampaignState]
    /// The number of the newest notification, of any kind.
    package var newest: Int64

    package init(_ campaigns: [CampaignState], newest: Int64) { (self.campaigns, self.newest) = (campaigns, newest) }
}

/// The state of a campaign.
package struct CampaignState: Hashable, Sendable {
    package var number: Int64
    package var id: UUID
    package var app: Int64
    package var state: NotificationRecord.State
    /// `true` once its first page was sent.
    package var hasStarted: Bool

    package init(number: Int64, id: UUID, app: Int64, state: NotificationRecord.State, hasStarted: Bool) {
        (self.number, self.id, self.app, self.state, self.hasStarted) = (number, id, app, state, hasStarted)
    }
}

/// A certificate of an app.
package struct StoredCertificate: Hashable, Sendable {
    package var app: Int64
    package var bundleID: Topic
    package var environment: PushEnvironment
    package var credential: CredentialRecord
    /// The sealed secret, by which a replaced certificate is recognized.
    package var seal: Data
    /// The stage of its end that was announced last; `nil` for none.
    package var announcedStage: Int?
}

/// A number of changes of tokens of one kind.
package struct TokenEventCount: Hashable, Sendable {
    /// The app's bundle id; its number if the app is gone.
    package var app: String
    package var environment: PushEnvironment
    package var action: TokenEventRecord.Action
    package var reason: String?
    package var count: Int
}

package import Foundation
package import PushSupport
package import PushTypes

/// A publication of an app: a series of issues, with what holds for the notifications about them.
package struct PublicationRecord: Hashable, Sendable {
    /// The most publications of an app.
    package static let maximumOfApp = 100
    /// The most subscriptions of a publication.
    package static let maximumSubscriptions = 50

    package var id: UUID
    package var app: Int64
    package var name: String
    /// The publisher's account whose devices see its issues; `nil` for all devices.
    package var account: String?
    package var waves: NotifyWaves
    /// The subscriptions in the App Store whose periods entitle to the issues that are dated within them.
    package var subscriptionProducts: Set<String> = []
    package var createdAt: Timestamp

    package init(
        id: UUID,
        app: Int64,
        name: String,
        account: String? = nil,
        waves: NotifyWaves = NotifyWaves(),
        createdAt: Timestamp
    ) {
        (self.id, self.app, self.name, self.account) = (id, app, name, account)
        (self.waves, self.createdAt) = (waves, createdAt)
    }
}

/// The waves in which the devices are notified of an issue, and the limits of downloads beyond which a wave waits.
package struct NotifyWaves: Hashable, Sendable {
    /// The devices of a wave. Default 10,000.
    package var size = 10_000
    /// The time between two waves, in seconds. Default 300.
    package var interval = 300
    /// The bytes per second of the app's downloads beyond which the next wave waits; `nil` for none.
    package var maximumBandwidth: Int?
    /// The open downloads of the app beyond which the next wave waits; `nil` for none.
    package var maximumDownloads: Int?

    package init() {}
}

/// Changes of a publication. What is `nil` stays.
package struct PublicationChanges: Hashable, Sendable {
    package var name: String?
    package var account: Update<String>?
    package var waveSize, waveInterval: Int?
    package var maximumBandwidth, maximumDownloads: Update<Int>?
    package var subscriptionProducts: Set<String>?

    package init() {}

    /// Makes the changes in a record.
    package func apply(to publication: inout PublicationRecord) {
        publication.name = self.name ?? publication.name
        if let account { publication.account = account.value }
        publication.subscriptionProducts = self.subscriptionProducts ?? publication.subscriptionProducts
        publication.waves.size = self.waveSize ?? publication.waves.size
        publication.waves.interval = self.waveInterval ?? publication.waves.interval
        if let maximumBandwidth { publication.waves.maximumBandwidth = maximumBandwidth.value }
        if let maximumDownloads { publication.waves.maximumDownloads = maximumDownloads.value }
    }
}

/// The result of adding a publication.
package enum PublicationAdditionResult: Hashable, Sendable {
    case added
    /// The app has as many publications as it may.
    case tooMany
    /// There is no such app any more.
    case noApp
}

/// The result of removing a publication.
package enum PublicationDeletionResult: Hashable, Sendable {
    case deleted, missing
    /// Nothing is removed: it has issues.
    case hasIssues
}

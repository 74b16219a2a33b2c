package import Foundation
package import PushSupport
package import PushTypes

/// A publication of an app: a series of issues, with the settings of their notifications.
package struct PublicationRecord: Hashable, Sendable {
    /// The maximum number of publications of an app. A further one is rejected.
    package static let maximumOfApp = 100
    /// The maximum number of subscription products of a publication.
    package static let maximumSubscriptions = 50

    package var id: UUID
    package var app: Int64
    package var name: String
    /// The publisher's account whose devices see the publication's issues, or `nil` for all devices.
    package var account: String?
    package var waves: NotifyWaves
    /// The product ids of App Store subscriptions, each of which entitles to the issues dated within its period.
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

/// Changes to a publication. A property that is `nil` is kept.
package struct PublicationChanges: Hashable, Sendable {
    package var name: String?
    package var account: Update<String>?
    package var waveSize, waveInterval: Int?
    package var maximumBandwidth, maximumDownloads: Update<Int>?
    package var subscriptionProducts: Set<String>?

    package init() {}

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
    /// A refusal because the app has reached the maximum number of publications.
    case tooMany
    /// A refusal because the app does not exist any more.
    case noApp
}

/// The result of removing a publication.
package enum PublicationDeletionResult: Hashable, Sendable {
    case deleted, missing
    /// A refusal because the publication has issues.
    case hasIssues
}

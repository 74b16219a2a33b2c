package import PushSupport
package import PushTypes

/// An app to which notifications are sent.
package struct AppRecord: Hashable, Sendable {
    package var id: Int64
    package var bundleID: Topic
    package var name: String?
    /// The maximum number of pushes per second of all the app's campaigns together, or `nil` for no limit.
    package var rate: Int?
    /// The tags and the attributes that installations may write themselves: none by default.
    package var installationTags = NamePatterns(), installationAttributes = NamePatterns()
    /// The frequency cap for each user of the app, or `nil` for no limit.
    package var cap: FrequencyCap?
    package var createdAt: Timestamp
    /// The maximum level of receipts that are reported for the app's notifications, unless a notification has its own.
    package var receipts: ReceiptLevel = .none

    package init(
        id: Int64,
        bundleID: Topic,
        name: String? = nil,
        rate: Int? = nil,
        installationTags: NamePatterns = NamePatterns(),
        installationAttributes: NamePatterns = NamePatterns(),
        cap: FrequencyCap? = nil,
        createdAt: Timestamp,
        receipts: ReceiptLevel = .none
    ) {
        (self.id, self.bundleID, self.name, self.rate) = (id, bundleID, name, rate)
        (self.installationTags, self.installationAttributes) = (installationTags, installationAttributes)
        (self.cap, self.createdAt, self.receipts) = (cap, createdAt, receipts)
    }
}

/// Changes to an app's settings. A setting that is `nil` is kept.
package struct AppChanges: Hashable, Sendable {
    package var name: Update<String>?
    package var rate: Update<Int>?
    package var receipts: ReceiptLevel?
    package var installationTags, installationAttributes: NamePatterns?
    package var cap: Update<FrequencyCap>?

    package init(
        name: Update<String>? = nil,
        rate: Update<Int>? = nil,
        receipts: ReceiptLevel? = nil,
        cap: Update<FrequencyCap>? = nil
    ) {
        (self.name, self.rate, self.receipts, self.cap) = (name, rate, receipts, cap)
    }
}

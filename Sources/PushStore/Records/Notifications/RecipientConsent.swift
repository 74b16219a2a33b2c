/// The rules by which a notification leaves recipients out that do not want it, or not now.
package struct ConsentRules: Hashable, Sendable {
    /// The consent category, from which people opt out; `nil` for none.
    package var category: String?
    /// Indicates whether it is sent in quiet hours too.
    package var ignoresQuietHours: Bool
    /// Indicates whether it is sent whatever a user has had, and does not count for others.
    package var ignoresCap: Bool

    package init(category: String? = nil, ignoresQuietHours: Bool = false, ignoresCap: Bool = false) {
        (self.category, self.ignoresQuietHours, self.ignoresCap) = (category, ignoresQuietHours, ignoresCap)
    }
}

/// The reason for which a registered recipient is skipped. Where several hold, the first of them counts.
package enum SkipReason: Hashable, Sendable, CaseIterable {
    case optedOut
    /// The device has said what it allows, and alerts are not among that.
    case alertsNotAllowed
    /// There is no key to which the content could be encrypted.
    case noEncryptionKey
    case quietHours
    case capReached

    /// The reason in the ledger.
    /// - Parameter category: The consent category of the notification.
    package func text(category: String?) -> String {
        switch self {
        case .optedOut: "opted out of \(category ?? "")"
        case .alertsNotAllowed: "the device allows no alerts"
        case .noEncryptionKey: "no encryption key"
        case .quietHours: "quiet hours of the user"
        case .capReached: "cap of the user reached"
        }
    }
}

/// The part of a recipient's preferences that a notification has asked for.
package struct RecipientConsent: Hashable, Sendable {
    /// The reason for which it is skipped at any time; `nil` for none.
    package var skips: SkipReason?
    /// The hours in which it is skipped: the user's, or else the device's.
    package var quietHours: QuietHours?
    /// The key of its installation.
    package var encryptionKey: InstallationPublicKey?

    package init(skips: SkipReason? = nil, quietHours: QuietHours? = nil, encryptionKey: InstallationPublicKey? = nil) {
        (self.skips, self.quietHours, self.encryptionKey) = (skips, quietHours, encryptionKey)
    }
}

/// Recipients of an audience that share everything by which they are skipped.
package struct ConsentGroup: Hashable, Sendable {
    package var consent: RecipientConsent
    package var timeZone: String?
    /// Indicates whether the user has had as many notifications as the cap allows.
    package var isCapReached: Bool
    package var count: Int
}

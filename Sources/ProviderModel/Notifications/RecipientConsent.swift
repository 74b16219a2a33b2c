/// The rules by which recipients of a notification are skipped because of their preferences.
package struct ConsentRules: Hashable, Sendable {
    /// The consent category of the notification, or `nil` for none. Recipients that opted out of it are skipped.
    package var category: String?
    /// A Boolean value that indicates whether the notification is sent in quiet hours too.
    package var ignoresQuietHours: Bool
    /// A Boolean value that indicates whether the notification ignores the frequency cap and is not counted.
    package var ignoresCap: Bool

    package init(category: String? = nil, ignoresQuietHours: Bool = false, ignoresCap: Bool = false) {
        (self.category, self.ignoresQuietHours, self.ignoresCap) = (category, ignoresQuietHours, ignoresCap)
    }
}

/// The reason for which a registered recipient is skipped. If several apply, the first one counts.
package enum SkipReason: Hashable, Sendable, CaseIterable {
    case optedOut
    /// The reason that the device has reported its capabilities, and alerts are not among them.
    case alertsNotAllowed
    /// The reason that the content is encrypted and the installation has no encryption key.
    case noEncryptionKey
    case quietHours
    case capReached

    /// Returns the text of the reason, as the ledger stores it.
    /// - Parameter category: The consent category of the notification, which the text of an opt-out names.
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

/// The part of a recipient's preferences that a notification depends on.
package struct RecipientConsent: Hashable, Sendable {
    /// The reason for which the recipient is skipped at any time, or `nil` for none.
    package var skips: SkipReason?
    /// The hours in which the recipient is skipped: those of the user, or else of the device, or `nil` for none.
    package var quietHours: QuietHours?
    /// The encryption key of the recipient's installation, or `nil` for none.
    package var encryptionKey: InstallationPublicKey?

    package init(skips: SkipReason? = nil, quietHours: QuietHours? = nil, encryptionKey: InstallationPublicKey? = nil) {
        (self.skips, self.quietHours, self.encryptionKey) = (skips, quietHours, encryptionKey)
    }
}

/// A group of recipients of an audience to whom the same reasons for skipping apply.
package struct ConsentGroup: Hashable, Sendable {
    package var consent: RecipientConsent
    package var timeZone: String?
    /// A Boolean value that indicates whether the users of these recipients have reached the frequency cap.
    package var isCapReached: Bool
    package var count: Int

    package init(consent: RecipientConsent, timeZone: String? = nil, isCapReached: Bool, count: Int) {
        (self.consent, self.timeZone, self.isCapReached, self.count) = (consent, timeZone, isCapReached, count)
    }
}

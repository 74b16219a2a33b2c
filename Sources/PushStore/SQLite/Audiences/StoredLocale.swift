import Foundation

/// A device's locale as it is stored.
enum StoredLocale {
    /// Returns a locale with hyphens, as a language tag has them (RFC 5646 section 2.1); some systems write `de_DE`.
    static func text(_ locale: String) -> String { locale.replacingOccurrences(of: "_", with: "-") }
}

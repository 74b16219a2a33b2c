import Foundation

/// A device's language as it is stored.
enum LocaleTag {
    /// A language tag has hyphens (RFC 5646); some systems write `de_DE`.
    static func stored(_ locale: String) -> String { locale.replacingOccurrences(of: "_", with: "-") }
}

import Foundation
package import PushSupport

/// A locale in one spelling: lower case, hyphens, no character set, no modifier.
///
/// Devices and callers write BCP 47 (`pt-BR`, `zh-Hant-TW`) or POSIX (`de_DE.UTF-8@euro`).
package struct LocaleTag: Hashable, Sendable {
    /// The maximum length of a text that is read, in bytes. A longer one names no locale.
    package static let maximumLength = 64

    /// The schema for the name of a localization.
    package static let schema = Schema.string(length: 2...Self.maximumLength)

    /// The regular expression of the texts that name a language.
    package static let pattern = "^[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*([.@][\\s\\S]*)?$"

    private let subtags: [String]

    /// Reads a locale, or returns `nil` for text that cannot name a language.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maximumLength else { return nil }
        let name = text.prefix { $0 != "." && $0 != "@" }
        var subtags = name.lowercased().replacing("_", with: "-").split(
            separator: "-",
            omittingEmptySubsequences: false
        )
        .map(String.init)
        guard let language = subtags.first, (2...3).contains(language.utf8.count),
            language.utf8.allSatisfy(Self.isLetter),
            subtags.dropFirst().allSatisfy({ (1...8).contains($0.utf8.count) && $0.utf8.allSatisfy(\.isAlphanumeric) })
        else { return nil }
        subtags[0] = Self.aliases[language] ?? language
        self.subtags = subtags
    }

    /// Returns whether the whole text is the name of a locale, a tag with an optional character set or modifier.
    package static func isName(_ text: String) -> Bool {
        Self(text) != nil
            && text.utf8.allSatisfy { $0.isAlphanumeric || "-_.@=;".utf8.contains($0) }
    }

    /// The tag as text, in lower case with hyphens.
    package var name: String { self.subtags.joined(separator: "-") }

    /// Returns `locale` in the stored form, with hyphens (RFC 5646) in place of underscores. The case is kept.
    package static func stored(_ locale: String) -> String { locale.replacingOccurrences(of: "_", with: "-") }

    /// The names of the tags that match this one, best match first.
    ///
    /// These are the tag with fewer and fewer subtags (RFC 4647 section 3.4). Before the language alone comes the
    /// language with the region only, and for Chinese the language with the script that the region writes.
    package var candidates: [String] {
        var names = (1...self.subtags.count).reversed().map { self.subtags.prefix($0).joined(separator: "-") }
        guard let language = names.popLast() else { return [] }
        if self.script != nil, let region = self.region { names.append("\(language)-\(region)") }
        if language == "zh", self.script == nil {
            let script = ["tw", "hk", "mo"].contains(self.region) ? "hant" : "hans"
            names += self.region == nil ? [language, "\(language)-\(script)"] : ["\(language)-\(script)", language]
        } else {
            names.append(language)
        }
        return names
    }

    private var script: String? {
        guard self.subtags.count > 1, self.subtags[1].utf8.count == 4, self.subtags[1].utf8.allSatisfy(Self.isLetter)
        else { return nil }
        return self.subtags[1]
    }

    private var region: String? {
        self.subtags.dropFirst(self.script == nil ? 1 : 2).first { $0.utf8.count == 2 || Int($0) != nil }
    }

    /// The languages whose code has changed (IANA subtag registry), and `no`, which means Bokmål.
    private static let aliases = ["iw": "he", "in": "id", "ji": "yi", "no": "nb"]

    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
}

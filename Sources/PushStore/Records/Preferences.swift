/// The notifications that a person does not want, and the hours without any.
package struct Preferences: Hashable, Sendable {
    /// The most categories that one device or user opts out of.
    package static let maximumOptOuts = 100
    /// The maximum length of the name of a consent category, in bytes.
    package static let maximumCategory = 64

    /// The consent categories that are not wanted.
    package var optOuts: Set<String>
    package var quietHours: QuietHours?

    package init(optOuts: Set<String> = [], quietHours: QuietHours? = nil) {
        (self.optOuts, self.quietHours) = (optOuts, quietHours)
    }

    /// Returns whether a text can be the name of a consent category. A line end would look like two categories in the
    /// stored form.
    package static func isCategory(_ text: String) -> Bool {
        (1...Self.maximumCategory).contains(text.utf8.count) && text.unicodeScalars.allSatisfy { $0.value >= 0x20 }
    }
}

/// The hours in which a person is left in peace, on the clock of each device.
///
/// They may span midnight. The local time counts when the clocks change: an hour that is skipped is not quiet, and one
/// that occurs twice is quiet twice.
package struct QuietHours: Hashable, Sendable {
    /// The first time of day that is quiet, and the first that is not any more.
    package let from, to: LocalTime

    /// `nil` for hours of no length.
    package init?(from: LocalTime, to: LocalTime) {
        guard from != to else { return nil }
        (self.from, self.to) = (from, to)
    }

    /// Returns whether a time of day is quiet.
    package func contains(_ time: LocalTime) -> Bool {
        self.from < self.to ? time >= self.from && time < self.to : time >= self.from || time < self.to
    }
}

extension QuietHours {
    /// Reads the stored form; `nil` for anything else.
    package init?(stored text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let from = LocalTime(String(parts[0])), let to = LocalTime(String(parts[1]))
        else { return nil }
        self.init(from: from, to: to)
    }

    /// The form in the database, such as `22:00-07:00`.
    package var stored: String { "\(self.from)-\(self.to)" }
}

/// The stored form of opt-outs: each category between line ends, so that one is found without reading the others.
enum StoredOptOuts {
    static func text(_ categories: Set<String>) -> String? {
        categories.isEmpty ? nil : "\n\(categories.sorted().joined(separator: "\n"))\n"
    }

    static func read(_ text: String?) -> Set<String> {
        Set((text ?? "").split(separator: "\n").map(String.init))
    }
}

/// The public key of an installation, to which the content of encrypted notifications is sealed.
package struct EncryptionKey: Hashable, Sendable {
    /// The length of a key, in bytes.
    package static let length = 32
    /// The maximum length of a key's name, in bytes.
    package static let maximumID = 64

    /// The name by which the installation finds its private key.
    package var id: String
    /// The X25519 public key, 32 bytes.
    package var bytes: [UInt8]

    package init(id: String, bytes: [UInt8]) { (self.id, self.bytes) = (id, bytes) }
}

/// The most notifications that a user gets in a window of time, across notifications.
package struct NotificationCap: Hashable, Sendable {
    package static let maximumCount: Int64 = 1000
    /// The longest window, in seconds.
    package static let maximumWindow: Int64 = 30 * 86_400

    package var count: Int
    /// The length of the window, in seconds.
    package var window: Int64

    package init(count: Int, window: Int64) { (self.count, self.window) = (count, window) }
}

/// The tags or attributes that installations may write, by their names or the beginnings of those.
package struct NamePatterns: Hashable, Sendable {
    /// The most patterns of an app.
    package static let maximum = 100

    /// Names; one that ends in `*` stands for every name that begins with the rest.
    package var texts: [String]

    package init(_ texts: [String] = []) { self.texts = texts }

    /// Returns whether a text can be a pattern: a star only ends it, and no line end is in it.
    package static func isPattern(_ text: String) -> Bool {
        !text.dropLast().contains("*") && text.unicodeScalars.allSatisfy { $0.value >= 0x20 }
    }

    package func match(_ name: String) -> Bool {
        self.texts.contains { $0.hasSuffix("*") ? name.hasPrefix($0.dropLast()) : name == $0 }
    }

    /// Reads the stored form: one pattern a line.
    init(stored text: String?) { self.init((text ?? "").split(separator: "\n").map(String.init)) }

    /// The form in the database; `nil` for none.
    var stored: String? { self.texts.isEmpty ? nil : self.texts.joined(separator: "\n") }
}

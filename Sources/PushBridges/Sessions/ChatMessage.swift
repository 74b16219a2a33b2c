import Crypto
import Foundation
package import PushTypes

/// A message that arrived for a user.
package struct ChatMessage: Hashable, Sendable {
    /// The longest name of a sender or of a conversation, in bytes.
    private static let maximumName = 256
    /// The longest text, in bytes.
    private static let maximumText = 1024

    package let sender: String
    /// The channel, or the sender of a direct message.
    package let conversation: String
    package let isDirect: Bool
    /// `true` if a message to many concerns the user.
    package let isHighlight: Bool
    /// The text; `nil` for one that only the app can decrypt.
    package let text: String?
    /// The name by which the message is known again: the server's id, or a hash of what is longer; `nil` if there is none.
    package let id: String?
    /// The time of the message, by the server's clock if it told it.
    package let at: Timestamp

    /// Shortens what is too long.
    package init(
        sender: String,
        conversation: String,
        isDirect: Bool,
        isHighlight: Bool = false,
        text: String?,
        id: String? = nil,
        at: Timestamp
    ) {
        self.sender = Self.beginning(of: sender, Self.maximumName)
        self.conversation = Self.beginning(of: conversation, Self.maximumName)
        self.text = text.map { Self.beginning(of: $0, Self.maximumText) }
        self.id = id.map(Self.name)
        (self.isDirect, self.isHighlight, self.at) = (isDirect, isHighlight, at)
    }

    /// Returns an id, or a hash of one that is too long: many may have one beginning.
    private static func name(of id: String) -> String {
        guard id.utf8.count > Self.maximumName else { return id }
        return Hexadecimal.encode(SHA256.hash(data: Data(id.utf8)))
    }

    /// The name by which the messages of a conversation are gathered.
    package var thread: String { self.conversation.lowercased() }

    /// Returns the beginning of a text, whole characters of at most `maximum` bytes together; a part of the first one if that is
    /// longer, as it may have any number of marks.
    static func beginning(of text: String, _ maximum: Int) -> String {
        guard text.utf8.count > maximum else { return text }
        var (length, end) = (0, text.startIndex)
        while end < text.endIndex {
            length += text[end].utf8.count
            guard length <= maximum else { break }
            end = text.index(after: end)
        }
        guard end == text.startIndex else { return String(text[..<end]) }
        length = 0
        let scalars = text.unicodeScalars.prefix { scalar in
            length += UTF8.width(scalar)
            return length <= maximum
        }
        return String(scalars)
    }
}

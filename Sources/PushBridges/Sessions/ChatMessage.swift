import Crypto
import Foundation
package import PushTypes

/// A message that arrived for a user.
package struct ChatMessage: Hashable, Sendable {
    /// The maximum length of the name of a sender or a conversation, in bytes. A longer name is truncated.
    private static let maximumName = 256
    /// The maximum length of a message's text, in bytes. Longer text is truncated.
    private static let maximumText = 1024

    package let sender: String
    /// The name of the channel, or the sender of a direct message.
    package let conversation: String
    package let isDirect: Bool
    /// A Boolean value that indicates whether a message in a channel contains the nick or a highlight word of the user.
    package let isHighlight: Bool
    /// The text, or `nil` if only the app can decrypt it.
    package let text: String?
    /// The id by which a repeated message is recognized: the server's id, or a hash of it if it is long. It is `nil` if
    /// the server assigns none.
    package let id: String?
    /// The time of the message: the server's time stamp if there is one, otherwise the time of arrival.
    package let at: Timestamp

    /// Creates a message. The names and the text are truncated to their maximum lengths.
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

    /// Returns the server's id of a message, or its hash if the id is too long. Ids are not truncated, because many may
    /// have the same prefix.
    private static func name(of id: String) -> String {
        guard id.utf8.count > Self.maximumName else { return id }
        return Hexadecimal.encode(SHA256.hash(data: Data(id.utf8)))
    }

    /// The key by which the messages of a conversation are grouped: the conversation's name in lower case.
    package var thread: String { self.conversation.lowercased() }

    /// Returns the longest prefix of whole characters that has at most `maximum` bytes in UTF-8. If the first character
    /// is longer, because of its combining marks, a prefix of its scalars is returned.
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

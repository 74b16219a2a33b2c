import PushStore
import PushSupport
import PushTypes

/// The lines of others.
extension IRCSession {
    /// Returns `true` if a nick is that of this session. Cases differ as in RFC 1459.
    func isOwn(_ nick: String) -> Bool { Self.folded(nick) == Self.folded(self.nick) }

    static func folded(_ name: String) -> [UInt8] {
        name.utf8.map { byte in
            switch byte {
            // Letters, and the brackets, the backslash and the caret, whose lower case are braces, the bar and the tilde.
            case 0x41...0x5e: byte + 0x20
            default: byte
            }
        }
    }

    mutating func receivedText(_ message: IRCMessage, at now: ClockReading) -> [ChatAction] {
        guard self.phase == .online, let sender = message.nick, let target = message.parameter(0),
            let text = message.parameter(1)
        else { return [] }
        let time = Self.time(message.tags["time"], now)
        // Bouncers replay what was said before.
        guard time.map({ $0 >= self.seenBefore }) ?? true else { return [] }
        self.seenThrough = max(self.seenThrough, min(time ?? now.wall, now.wall))
        guard !self.isOwn(sender) else { return [.wroteElsewhere(conversation: target)] }
        guard !Self.isService(sender, message.command), let words = Self.words(text) else { return [] }
        let isDirect = self.isOwn(target)
        // A bouncer has a nick of its own.
        let names = [self.nickWord] + (self.nicksTried > 0 ? [self.settings.nickWord] : []) + self.settings.highlights
        return [
            .message(
                ChatMessage(
                    sender: sender,
                    conversation: isDirect ? sender : target,
                    isDirect: isDirect,
                    isHighlight: isDirect || IRCText.contains(anyOf: names, in: words),
                    text: words,
                    id: message.tags["msgid"],
                    at: time ?? now.wall
                )
            )
        ]
    }

    /// Returns the time that a server tells, which is at most a day ahead of ours.
    private static func time(_ text: String?, _ now: ClockReading) -> Timestamp? {
        guard let text, let time = Timestamp(rfc3339: text), time <= now.wall.advanced(by: .seconds(86_400)) else {
            return nil
        }
        return time
    }

    /// Returns `true` for the modules of a bouncer, and for notices of a network's services, which speak at each sign-in.
    private static func isService(_ sender: String, _ command: String) -> Bool {
        sender.hasPrefix("*") || command == "NOTICE" && sender.lowercased().hasSuffix("serv")
    }

    /// Returns the text that people read; `nil` for a question of one program to another.
    private static func words(_ text: String) -> String? {
        var text = Substring(text)
        if text.first == "\u{1}" {
            let action = "\u{1}ACTION "
            guard text.hasPrefix(action) else { return nil }
            text = "* " + text.dropFirst(action.count)
        }
        let words = IRCText.plain(String(text))
        return words.isEmpty ? nil : words
    }
}

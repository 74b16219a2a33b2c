/// A message of IRC, which is one line (RFC 2812 section 2.3.1), with message tags (IRCv3).
struct IRCMessage: Hashable, Sendable {
    /// The maximum number of parameters of a message (RFC 2812). The last one contains the rest of the line.
    private static let maximumParameters = 15

    var tags: [String: String] = [:]
    var source: String?
    /// The command in upper case, or a numeric reply of three digits.
    var command: String
    var parameters: [String]

    /// Parses a line without its terminator. Returns `nil` if the line is empty or not a message. Bytes that are not
    /// valid UTF-8 become replacement characters.
    init?(_ line: ArraySlice<UInt8>) {
        var rest = line
        if rest.first == UInt8(ascii: "@") {
            self.tags = Self.tags(Self.word(&rest).dropFirst())
        }
        if rest.first == UInt8(ascii: ":") {
            self.source = String(decoding: Self.word(&rest).dropFirst(), as: UTF8.self)
        }
        self.command = String(decoding: Self.word(&rest), as: UTF8.self).uppercased()
        guard !self.command.isEmpty else { return nil }
        self.parameters = []
        while !rest.isEmpty {
            guard rest.first != UInt8(ascii: ":"), self.parameters.count < Self.maximumParameters - 1 else {
                let last = rest.first == UInt8(ascii: ":") ? rest.dropFirst() : rest
                self.parameters.append(String(decoding: last, as: UTF8.self))
                break
            }
            self.parameters.append(String(decoding: Self.word(&rest), as: UTF8.self))
        }
    }

    init(_ command: String, _ parameters: String...) { (self.command, self.parameters) = (command, parameters) }

    /// The encoded message, including the line terminator. Only the last parameter may contain spaces.
    ///
    /// CR, LF and NUL are removed from the parameters, because a message must not contain them.
    var bytes: [UInt8] {
        var text = self.command
        for parameter in self.parameters.dropLast() { text += " " + parameter }
        if let last = self.parameters.last {
            let needsColon = last.isEmpty || last.hasPrefix(":") || last.contains(" ")
            text += (needsColon ? " :" : " ") + last
        }
        return text.utf8.filter { ![0, 10, 13].contains($0) } + [13, 10]
    }

    /// The nick of the sender, or `nil` if the sender is a server.
    var nick: String? {
        guard let source, let end = source.firstIndex(of: "!"), end > source.startIndex else { return nil }
        return String(source[..<end])
    }

    func parameter(_ index: Int) -> String? { self.parameters.indices.contains(index) ? self.parameters[index] : nil }

    /// Removes and returns the bytes up to the next space. The spaces are removed too.
    private static func word(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let word = rest.prefix { $0 != UInt8(ascii: " ") }
        rest = rest[word.endIndex...].drop { $0 == UInt8(ascii: " ") }
        return word
    }

    private static func tags(_ text: ArraySlice<UInt8>) -> [String: String] {
        var tags: [String: String] = [:]
        for tag in text.split(separator: UInt8(ascii: ";")) {
            let name = tag.prefix { $0 != UInt8(ascii: "=") }
            tags[String(decoding: name, as: UTF8.self)] = Self.unescaped(tag[name.endIndex...].dropFirst())
        }
        return tags
    }

    /// Returns the unescaped value of a message tag (IRCv3 message tags, escaping values).
    private static func unescaped(_ value: ArraySlice<UInt8>) -> String {
        var bytes: [UInt8] = []
        var isEscaped = false
        for byte in value {
            guard isEscaped || byte != UInt8(ascii: "\\") else {
                isEscaped = true
                continue
            }
            switch (isEscaped, byte) {
            case (true, UInt8(ascii: ":")): bytes.append(UInt8(ascii: ";"))
            case (true, UInt8(ascii: "s")): bytes.append(UInt8(ascii: " "))
            case (true, UInt8(ascii: "r")): bytes.append(13)
            case (true, UInt8(ascii: "n")): bytes.append(10)
            default: bytes.append(byte)
            }
            isEscaped = false
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Capabilities and SASL.
extension IRCSession {
    /// The capabilities that are used where they are offered.
    private static let wanted = ["account-tag", "message-tags", "server-time", "znc.in/self-message"]
    /// The most capabilities of a server that are remembered.
    private static let maximumOffered = 256

    mutating func receivedCapabilities(_ message: IRCMessage) -> [ChatAction] {
        switch (message.parameter(1)?.uppercased(), self.phase) {
        case ("LS", .listing):
            for item in (message.parameters.last ?? "").split(separator: " ")
            where self.offered.count < Self.maximumOffered {
                let parts = item.split(separator: "=", maxSplits: 1)
                guard let name = parts.first else { continue }
                self.offered[String(name)] = parts.count > 1 ? String(parts[1]) : ""
            }
            // An asterisk announces another line.
            if message.parameters.count > 3, message.parameter(2) == "*" { return [] }
            return self.requestCapabilities(Self.wanted, isReduced: false)
        case ("ACK", .requesting):
            guard self.settings.authentication == .sasl else { return self.endNegotiation() }
            self.phase = .authenticating
            return [.send(IRCMessage("AUTHENTICATE", "PLAIN").bytes)]
        // Without the others the session works too.
        case ("NAK", .requesting(isReduced: false)): return self.requestCapabilities([], isReduced: true)
        case ("NAK", .requesting(isReduced: true)): return self.fail("the server refuses SASL")
        default: return []
        }
    }

    private mutating func requestCapabilities(_ wanted: [String], isReduced: Bool) -> [ChatAction] {
        var names = wanted.filter { self.offered[$0] != nil }
        if self.settings.authentication == .sasl {
            guard let mechanisms = self.offered["sasl"], mechanisms.isEmpty || Self.hasPlain(mechanisms) else {
                return self.fail("the server offers no SASL PLAIN")
            }
            names.append("sasl")
        }
        guard !names.isEmpty else { return self.endNegotiation() }
        self.phase = .requesting(isReduced: isReduced)
        return [.send(IRCMessage("CAP", "REQ", names.joined(separator: " ")).bytes)]
    }

    private static func hasPlain(_ mechanisms: String) -> Bool {
        mechanisms.split(separator: ",").contains { $0.uppercased() == "PLAIN" }
    }

    mutating func endNegotiation() -> [ChatAction] {
        (self.phase, self.offered) = (.registering, [:])
        return [.send(IRCMessage("CAP", "END").bytes)]
    }

    mutating func receivedAuthenticate(_ message: IRCMessage) -> [ChatAction] {
        guard self.phase == .authenticating, message.parameter(0) == "+" else { return [] }
        let response = SASLPlain.response(account: self.login.account, password: self.login.password)
        // Pieces of 400 characters; one that is shorter, or empty, is the last (IRCv3 SASL 3.1).
        var rest = response[...]
        var lines: [UInt8] = []
        while rest.count >= 400 {
            lines += IRCMessage("AUTHENTICATE", String(rest.prefix(400))).bytes
            rest = rest.dropFirst(400)
        }
        return [.send(lines + IRCMessage("AUTHENTICATE", rest.isEmpty ? "+" : String(rest)).bytes)]
    }
}

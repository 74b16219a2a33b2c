import PushStore
import PushSupport
import PushTypes

/// The stanzas of a session that is signed in.
extension XMPPSession {
    /// The most other clients of the user that are remembered.
    private static let maximumPresent = 32

    mutating func receivedOnline(_ element: XMLElement, at now: ClockReading) -> [ChatAction] {
        switch (element.name, element.namespace) {
        case (let name, XMPPNamespaces.management): return self.receivedManagement(name, element)
        case ("message", XMPPNamespaces.client):
            self.countReceived()
            return self.receivedMessage(element, at: now)
        case ("presence", XMPPNamespaces.client):
            self.countReceived()
            return self.receivedPresence(element)
        case ("iq", XMPPNamespaces.client):
            self.countReceived()
            return self.receivedQuery(element)
        default: return []
        }
    }

    /// Counts a stanza, once the server counts them too.
    private mutating func countReceived() {
        if self.isManaged { self.management?.countReceived() }
    }

    private mutating func receivedManagement(_ name: String, _ element: XMLElement) -> [ChatAction] {
        switch name {
        case "enabled":
            self.isManaged = true
            let isResumable = ["true", "1"].contains(element["resume"] ?? "")
            self.management?.id = isResumable ? element["id"].flatMap { $0.utf8.count <= 4096 ? $0 : nil } : nil
            return [.send(text: Self.request)]
        // The stream is one without counters.
        case "failed":
            self.management = nil
            return []
        case "r":
            guard let management else { return [] }
            return [.send(text: "<a xmlns='\(XMPPNamespaces.management)' h='\(management.received)'/>")]
        case "a":
            guard self.management != nil else { return [] }
            guard let count = element["h"].flatMap({ UInt32($0) }), self.management?.acknowledge(count) ?? false else {
                return self.fail("the server acknowledges stanzas that were never sent")
            }
            return []
        default: return []
        }
    }

    // MARK: Presence

    /// Notes whether the user is present at another of their clients.
    private mutating func receivedPresence(_ presence: XMLElement) -> [ChatAction] {
        guard let sender = presence["from"], self.account.owns(sender), sender != self.jid, sender.contains("/"),
            sender.utf8.count <= 3071
        else { return [] }
        let wasAttached = !self.present.isEmpty
        if Self.isPresent(presence) {
            if self.present.count < Self.maximumPresent { self.present.insert(sender) }
        } else {
            self.present.remove(sender)
        }
        let isAttached = !self.present.isEmpty
        return isAttached == wasAttached ? [] : [.attached(isAttached)]
    }

    /// Returns `true` for a client that is there and wants messages. One that is away says so, and one that never wants any
    /// has a priority below 0.
    private static func isPresent(_ presence: XMLElement) -> Bool {
        guard presence["type"] == nil else { return false }
        let show = presence.child("show", XMPPNamespaces.client)?.text ?? ""
        let priority = presence.child("priority", XMPPNamespaces.client).flatMap { Int($0.text) } ?? 0
        return !["away", "xa"].contains(show) && priority >= 0
    }

    // MARK: Queries

    /// Answers a query: a ping with a result, every other with an error (RFC 6120 section 8.2.3).
    ///
    /// Anybody may ask. Those who ask faster than the server acknowledges the answers get none to the rest.
    private mutating func receivedQuery(_ iq: XMLElement) -> [ChatAction] {
        guard self.management?.takesAnswers ?? true else { return [] }
        guard ["get", "set"].contains(iq["type"] ?? ""), let id = iq["id"], id.utf8.count <= 1024 else { return [] }
        let sender = iq["from"].flatMap { $0.utf8.count <= 3071 ? $0 : nil }
        if iq["type"] == "get", iq.child("ping", XMPPNamespaces.ping) != nil {
            return self.send(Self.iq("result", id: id, to: sender))
        }
        let condition = XMLElement("service-unavailable", namespace: XMPPNamespaces.stanzaErrors)
        let error = XMLElement(
            "error",
            namespace: XMPPNamespaces.client,
            attributes: ["type": "cancel"],
            children: [condition]
        )
        return self.send(Self.iq("error", id: id, to: sender, children: [error]))
    }

    // MARK: Messages

    private mutating func receivedMessage(_ message: XMLElement, at now: ClockReading) -> [ChatAction] {
        // A message without sender is one of the account itself (RFC 6120 section 8.1.2.1). Carbons of others are forged.
        let isOwn = message["from"].map(self.account.owns) ?? true
        if isOwn, let carbon = message.children.first(where: { $0.namespace == XMPPNamespaces.carbons }) {
            guard let inner = carbon.child("forwarded", XMPPNamespaces.forward)?.child("message", XMPPNamespaces.client)
            else { return [] }
            switch carbon.name {
            case "received": return self.messages(inner, outer: message, at: now)
            case "sent":
                guard let receiver = inner["to"], Self.hasText(inner) else { return [] }
                return [.wroteElsewhere(conversation: XMPPAccount.bare(receiver))]
            default: return []
            }
        }
        return self.messages(message, outer: message, at: now)
    }

    private static func isEncrypted(_ message: XMLElement) -> Bool {
        message.children.contains { XMPPNamespaces.encrypted.contains($0.namespace) }
    }

    private static func hasText(_ message: XMLElement) -> Bool {
        !(message.child("body", XMPPNamespaces.client)?.text ?? "").isEmpty || self.isEncrypted(message)
    }

    private mutating func messages(_ message: XMLElement, outer: XMLElement, at now: ClockReading) -> [ChatAction] {
        guard ["chat", "normal"].contains(message["type"] ?? "normal"), let from = message["from"],
            Self.hasText(message),
            !self.account.owns(from)
        else { return [] }
        let sender = XMPPAccount.bare(from)
        guard !sender.isEmpty else { return [] }
        let stamp = [message, outer].lazy.compactMap { $0.child("delay", XMPPNamespaces.delay)?["stamp"] }.first
        let time = min(stamp.flatMap { Timestamp(rfc3339: $0) } ?? now.wall, now.wall)
        self.seenThrough = max(self.seenThrough, time)
        return [
            .message(
                ChatMessage(
                    sender: sender,
                    conversation: sender,
                    isDirect: true,
                    text: Self.isEncrypted(message) ? nil : message.child("body", XMPPNamespaces.client)?.text,
                    id: self.id(of: message, at: time),
                    at: time
                )
            )
        ]
    }

    /// Returns the name by which a message is known again.
    ///
    /// Only the own server says which id is unique. A sender's id may be used again, and counts together with the hour and with what
    /// is said: a message that comes again after a lost connection, now with its stamp, is the same one.
    private func id(of message: XMLElement, at time: Timestamp) -> String? {
        let given = message.children("stanza-id", XMPPNamespaces.stanzaID).first { self.account.owns($0["by"] ?? "") }
        if let id = given?["id"] { return id }
        guard let id = message["id"] else { return nil }
        let said = message.children.filter {
            $0.has("body", XMPPNamespaces.client) || XMPPNamespaces.encrypted.contains($0.namespace)
        }
        return ([id, "\(time.seconds / 3600)"] + said.flatMap(Self.texts)).joined(separator: "\0")
    }

    /// Returns the texts of an element and of all that is in it. The parser bounds its depth.
    private static func texts(of element: XMLElement) -> [String] {
        [element.text] + element.children.flatMap(self.texts)
    }
}

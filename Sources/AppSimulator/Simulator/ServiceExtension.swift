import Foundation
import MartletKit
import PushSupport

/// The app's notification service extension: opens encrypted content, counts the badge and loads the attachment.
struct ServiceExtension: Sendable {
    let martlet: Martlet
    let keys: EncryptionKeys
    let badge: BadgeCount
    /// The folder for attachments.
    let folder: URL
    let transport: any DownloadTransport

    /// Changes the content of a notification before it is shown, and returns it with what was done.
    func extend(_ content: PushContent) async -> (content: PushContent, events: [SimulatorEvent]) {
        guard let received = SimulatedApp.notification(content.payload) else {
            return (content, [Self.problem("the library does not read this payload")])
        }
        var done: [String] = []
        var events: [SimulatorEvent] = []
        let notification = await self.martlet.receive(received, .serviceExtension).notification
        let wasOpened = notification != received
        if wasOpened { done.append("decrypted") }
        var extended = wasOpened ? PushContent(notification, in: content.payload) : content
        do {
            if let count = try self.badge.apply(notification) {
                if count != extended.badge { done.append("badge \(count)") }
                extended.badge = count
            }
        } catch {
            events.append(Self.problem("the badge cannot be counted: \(ErrorDescription.of(error))"))
        }
        var policy = AttachmentPolicy()
        // A simulator works without the network.
        policy.allowsLocalServers = true
        do {
            let loader = AttachmentLoader(folder: self.folder, policy: policy, transport: self.transport)
            if let attachment = try await loader.attachment(of: notification) {
                extended.attachment = attachment.file.path
                done.append("attachment of type \(attachment.type.rawValue)")
            }
        } catch {
            events.append(Self.problem("there is no attachment: \(error)"))
        }
        let text = done.isEmpty ? "nothing to change" : done.joined(separator: ", ")
        let changes = PushSupport.JSONValue.array(done.map { .string($0) })
        events.append(SimulatorEvent(.extension, text, ["changes": changes]))
        return (extended, events)
    }

    private static func problem(_ text: String) -> SimulatorEvent {
        SimulatorEvent(.problem, text, ["problem": text.json])
    }
}

extension PushContent {
    /// Makes the content that an extension sets in place of what a payload says: that of the opened notification.
    ///
    /// The payload stays as it came: the app opens it again.
    init(_ notification: MartletKit.ReceivedNotification, in payload: [String: PushSupport.JSONValue]) {
        var members = payload
        var aps: [String: PushSupport.JSONValue] = [:]
        if case .object(let earlier)? = payload["aps"] { aps = earlier }
        let alert = ["title": notification.title, "subtitle": notification.subtitle, "body": notification.body]
        aps["alert"] = .object(alert.compactMapValues { $0?.json })
        aps["badge"] = notification.badge.map { .integer(Int64($0)) }
        aps["sound"] = notification.sound?.json
        aps["interruption-level"] = notification.interruptionLevel?.rawValue.json
        aps["category"] = notification.category?.json
        aps["thread-id"] = notification.threadID?.json
        members["aps"] = .object(aps)
        self.init(payload: (try? PushSupport.JSONValue.object(members).text) ?? Data())
        self.payload = payload
    }
}

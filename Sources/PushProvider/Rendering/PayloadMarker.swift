import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTypes

/// The member `martlet` of a payload, by which the app names the notification in its receipts.
///
/// It is beside `aps`, and the same for all recipients, so that campaigns without variables have one payload.
struct PayloadMarker {
    /// The name of the member.
    static let name = "martlet"
    /// The id in place of that of a notification that is not accepted yet. It has the same length.
    static let sampleID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// The member with its name, as JSON text.
    private let text: String

    /// Makes the member for a notification; `nil` if its payload has no such member, and for encrypted content, where the
    /// ``EncryptedEnvelope`` has the member.
    init?(_ content: NotificationContent, notification: UUID) {
        guard content.receipts != .none, content.placeholder == nil else { return nil }
        self.text = #""\#(Self.name)":{"id":"\#(notification.uuidString)","receipts":"\#(content.receipts.word)"}"#
    }

    /// Adds the member at the end of the text of a JSON object.
    func add(to payload: Data) -> Data {
        guard payload.last == UInt8(ascii: "}") else { return payload }
        var marked = payload.dropLast()
        if payload.count > 2 { marked.append(UInt8(ascii: ",")) }
        marked.append(contentsOf: Data("\(self.text)}".utf8))
        return Data(marked)
    }

    /// Adds the member to a compiled payload, whose last segment ends the object.
    func add(to payload: inout CompiledPayload) {
        guard case .literal(let end)? = payload.segments.popLast() else { return }
        let marked = Array(payload.segments.isEmpty ? self.add(to: Data(end)) : self.add(toEnd: end))
        payload.segments.append(.literal(marked))
        payload.literalCount += marked.count - end.count
    }

    /// Adds the member to the last part of the text of an object that has other members.
    private func add(toEnd end: [UInt8]) -> Data { Data(end.dropLast() + Array(",\(self.text)}".utf8)) }

    /// Returns `true` if the app gets the payload of the push. Otherwise it can send no receipts.
    static func isPossible(_ pushType: PushType, isWallet: Bool) -> Bool {
        switch pushType {
        case .alert: !isWallet
        case .background, .complication, .fileprovider, .location, .pushtotalk, .voip: true
        case .controls, .liveactivity, .mdm, .widgets: false
        }
    }
}

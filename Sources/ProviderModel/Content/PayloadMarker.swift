package import Foundation
import PushTypes

/// The member `martlet` of a payload, by which the app names the notification in its receipts.
///
/// It is beside `aps`, and the same for all recipients, so that campaigns without variables have one payload.
package struct PayloadMarker: Sendable {
    package static let name = "martlet"
    /// The placeholder for the id of a notification that is not accepted yet. It has the length of an id.
    package static let sampleID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// The member with its name, as JSON text.
    package let text: String

    /// Creates the member for a notification, or returns `nil` if its payload has no such member and for encrypted
    /// content, where the ``EnvelopeText`` has the member.
    package init?(_ content: NotificationContent, notification: UUID) {
        guard content.receipts != .none, content.placeholder == nil else { return nil }
        self.text = #""\#(Self.name)":{"id":"\#(notification.uuidString)","receipts":"\#(content.receipts.word)"}"#
    }

    /// Adds the member at the end of the text of a JSON object.
    package func add(to payload: Data) -> Data {
        guard payload.last == UInt8(ascii: "}") else { return payload }
        var marked = payload.dropLast()
        if payload.count > 2 { marked.append(UInt8(ascii: ",")) }
        marked.append(contentsOf: Data("\(self.text)}".utf8))
        return Data(marked)
    }

    /// Returns the length of the text of an object of `length` bytes with the member.
    func length(ofMarked length: Int) -> Int { length + self.text.utf8.count + (length > 2 ? 1 : 0) }

    /// Returns whether the app gets the payload of the push. Otherwise it can send no receipts.
    static func isPossible(_ pushType: PushType, isWallet: Bool) -> Bool {
        switch pushType {
        case .alert: !isWallet
        case .background, .complication, .fileprovider, .location, .pushtotalk, .voip: true
        case .controls, .liveactivity, .mdm, .widgets: false
        }
    }
}

import NIOCore
import PushBridges
import PushSupport
import PushTypes

extension ChatSession {
    /// Passes text to the session, at the same time on both clocks.
    mutating func received(_ text: String, at time: Timestamp = .start) -> [ChatAction] {
        self.received(ByteBuffer(string: text), at: ClockReading(time))
    }
}

extension Timestamp {
    /// 2023-11-14T22:13:20Z.
    static let start = Timestamp(seconds: 1_700_000_000)

    static func after(_ seconds: Int64) -> Timestamp { Timestamp(seconds: 1_700_000_000 + seconds) }
}

extension ChatAction {
    /// The text that is sent; `nil` for another action.
    var text: String? { if case .send(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { nil } }

    var message: ChatMessage? { if case .message(let message) = self { message } else { nil } }

    var failure: ChatFailure? { if case .failed(let failure) = self { failure } else { nil } }
}

extension [ChatAction] {
    /// All text that is sent.
    var text: String { self.compactMap(\.text).joined() }
    var messages: [ChatMessage] { self.compactMap(\.message) }
    var failure: ChatFailure? { self.lazy.compactMap(\.failure).first }
}

import NIOCore
import NIOHPACK
import NIOHTTP2

/// One request stream: gathers its frames, asks for the answer, writes it as HEADERS or as HEADERS and one DATA frame,
/// END_STREAM on the last (reference 7.10 row 4).
final class ProviderStreamHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let deadline: TimeAmount
    private let answer: @Sendable (ProviderRequest) async -> ProviderAnswer
    private var request = ProviderRequest()
    private var timer: Scheduled<Void>?
    private var isComplete = false

    init(deadline: TimeAmount, answer: @escaping @Sendable (ProviderRequest) async -> ProviderAnswer) {
        self.deadline = deadline
        self.answer = answer
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: self.deadline) {
            context.close(promise: nil)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .headers(let headers):
            if self.request.method.isEmpty {
                for (name, value, _) in headers.headers { self.request.add(name: name, value: value) }
            }
            if headers.endStream { self.complete(context: context) }
        case .data(let data):
            if case .byteBuffer(let bytes) = data.data { self.request.receive(bytes) }
            if data.endStream { self.complete(context: context) }
        default:
            break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func complete(context: ChannelHandlerContext) {
        guard !self.isComplete else { return }
        self.isComplete = true
        self.timer?.cancel()
        let (request, answer) = (self.request, self.answer)
        context.eventLoop.makeFutureWithTask { await answer(request) }
            .assumeIsolated()
            .whenSuccess { self.write($0, context: context) }
    }

    private func write(_ answer: ProviderAnswer, context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        context.write(
            Self.wrapOutboundOut(.headers(.init(headers: Self.headers(answer), endStream: answer.body == nil))),
            promise: nil
        )
        if let body = answer.body.map(ByteBuffer.init(string:)) {
            context.write(Self.wrapOutboundOut(.data(.init(data: .byteBuffer(body), endStream: true))), promise: nil)
        }
        context.flush()
    }

    private static func headers(_ answer: ProviderAnswer) -> HPACKHeaders {
        var headers: HPACKHeaders = [":status": "\(answer.status)"]
        if let id = answer.apnsID { headers.add(name: "apns-id", value: id) }
        if let id = answer.uniqueID { headers.add(name: "apns-unique-id", value: id) }
        if let id = answer.requestID { headers.add(name: "apns-request-id", value: id) }
        if let id = answer.channelID { headers.add(name: "apns-channel-id", value: id) }
        if let seconds = answer.retryAfter { headers.add(name: "retry-after", value: "\(seconds)") }
        if answer.body != nil { headers.add(name: "content-type", value: "application/json") }
        return headers
    }
}

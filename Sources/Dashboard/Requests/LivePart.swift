import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PushProvider
import PushSupport
import ServiceLifecycle

/// A section of a page that is updated while the page is shown, with server-sent events (HTML Living Standard, section
/// 9.2). The section is rendered once a second, and sent when it has changed. When a stream ends, the browser opens a
/// new one.
struct LivePart: Sendable {
    /// The content of the section at a point in time, as an event contains it.
    struct Update: Sendable {
        let html: String
        /// The number to show in the title of the browser tab, or `nil` to show none.
        var count: Int64?
        /// A Boolean value that indicates whether the content is final, so that no further update follows.
        var isFinal = false
    }

    /// The budget of event streams, which prevents open browser tabs from using up the connections.
    let liveStreams: Budget
    /// The time between two renderings. Default one second.
    var interval: Duration = .seconds(1)
    /// The closure that returns the current content of the section, or `nil` to end the stream.
    let render: @Sendable () async throws -> Update?

    /// Returns the response with the event stream. If the budget is exhausted, the response is empty, and the page is
    /// not updated any more.
    /// - Parameter holder: The id of the signed-in person or API key.
    func response(for holder: UUID) -> Response {
        guard let place = try? self.liveStreams.take(for: BudgetCaller(.principal(holder))) else {
            return Response(status: .noContent)
        }
        let headers: HTTPFields = [
            .contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store",
            .xContentTypeOptions: "nosniff",
        ]
        let events = LiveEvents(render: self.render, interval: self.interval, place: place)
        return Response(status: .ok, headers: headers, body: .init(asyncSequence: events))
    }
}

extension PageRequest {
    /// Returns the event stream for a live section of this page. The session is read again for each update. Therefore,
    /// the stream ends with the session, and shows only content that the caller's current role and apps allow.
    func live(_ render: @escaping @Sendable (PageRequest) async throws -> LivePart.Update) -> Response {
        let (visitor, path, id) = (self.visitor, self.path, self.session.id)
        let part = LivePart(liveStreams: visitor.renderer.liveStreams) {
            guard let session = try await visitor.session(), session.id == id else { return nil }
            return try await render(PageRequest(visitor, session: session, path: path))
        }
        return part.response(for: self.session.caller.id)
    }
}

/// The events of one stream. However the stream ends, its permit from the budget is released.
private struct LiveEvents: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let render: @Sendable () async throws -> LivePart.Update?
    let interval: Duration
    let place: BudgetPermit

    func makeAsyncIterator() -> Iterator { Iterator(render: self.render, interval: self.interval, place: self.place) }

    struct Iterator: AsyncIteratorProtocol {
        /// The maximum time for which a stream stays open. After that, the browser opens a new one.
        private static let longest: Duration = .seconds(300)
        /// The number of renderings without a change after which a comment is sent, so that proxies keep the connection
        /// open.
        private static let silence = 15

        let render: @Sendable () async throws -> LivePart.Update?
        let interval: Duration
        let place: BudgetPermit
        private let end = ContinuousClock.now + Self.longest
        private var shown: String?
        private var hasBegun = false
        private var quiet = 0
        private var isFinal = false

        init(render: @escaping @Sendable () async throws -> LivePart.Update?, interval: Duration, place: BudgetPermit) {
            (self.render, self.interval, self.place) = (render, interval, place)
        }

        mutating func next() async throws -> ByteBuffer? {
            while !self.isFinal, ContinuousClock.now < self.end, !Task.isShuttingDownGracefully {
                if self.hasBegun { try await Task.sleep(for: self.interval, clock: .continuous) }
                self.hasBegun = true
                guard let update = try await self.update() else { continue }
                self.isFinal = update.isFinal
                let ending = update.isFinal ? "event: end\ndata: {}\n\n" : ""
                self.quiet += 1
                if update.html != self.shown {
                    (self.shown, self.quiet) = (update.html, 0)
                    return ByteBuffer(string: "event: part\ndata: \(Self.json(update))\n\n\(ending)")
                }
                if self.isFinal { return ByteBuffer(string: ending) }
                if self.quiet >= Self.silence {
                    self.quiet = 0
                    return ByteBuffer(string: ": still here\n\n")
                }
            }
            return nil
        }

        /// Returns the current content of the section. Returns `nil` at the end of the stream, and while a budget
        /// refuses the request, so that the page keeps the last content.
        /// - Throws: Any other error, which ends the stream.
        private mutating func update() async throws -> LivePart.Update? {
            do {
                let update = try await self.render()
                if update == nil { self.isFinal = true }
                return update
            } catch let error as RequestError where [.rateLimited, .unavailable].contains(error.kind) {
                return nil
            }
        }

        private static func json(_ update: LivePart.Update) -> String {
            let json = JSONValue.members(["html": .string(update.html), "count": update.count.map(JSONValue.integer)])
            return (try? json.text).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        }
    }
}

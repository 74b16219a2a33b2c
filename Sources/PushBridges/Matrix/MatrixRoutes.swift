import HTTPTypes
import Hummingbird
import Logging
import Metrics
import NIOCore
import ProviderAPI
import PushHTTP
import PushSupport

/// The route `/_matrix/push/v1/notify` at the root of the listener, where homeservers expect it.
///
/// It is not an operation of the API, because homeservers have no API key, so that the audit trail could not name a
/// caller.
struct MatrixRoutes: Sendable {
    private static let path: RouterPath = "_matrix/push/v1/notify"
    /// The other paths of the Matrix APIs, which respond with 404. They include the prefixes of ``path``, which a
    /// wildcard does not match.
    private static let otherPaths: [RouterPath] = ["_matrix", "_matrix/push", "_matrix/push/v1", "_matrix/**"]
    private static let operation = "matrix.notify"
    private static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options, .trace]
    private static let headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
    private static let nothingRejected = ByteBuffer(string: #"{"rejected":[]}"#)

    private let gateway: MatrixGateway
    private let runner: OperationRunner
    private let budgets: BudgetRegistry
    /// The metrics of the most frequent response, which are created only once.
    private let accepted: (count: Counter, time: Metrics.Timer)

    init(_ gateway: MatrixGateway, _ parts: ProviderComponents) {
        (self.gateway, self.runner, self.budgets) = (gateway, parts.runner, parts.budgets)
        let label = ("operation", Self.operation)
        self.accepted = (
            Counter(label: "martlet_api_requests", dimensions: [label, ("status", "200")], factory: parts.metrics),
            Metrics.Timer(label: "martlet_api_request", dimensions: [label], factory: parts.metrics)
        )
    }

    func addRoutes(to router: Router<APIContext>) {
        for method in Self.methods {
            switch method {
            case .post: router.on(Self.path, method: method, use: self.notify)
            case .get, .head: router.on(Self.path, method: method, use: self.probe)
            default: router.on(Self.path, method: method) { _, _ in Self.methodNotAllowed }
            }
            for path in Self.otherPaths { router.on(path, method: method) { _, _ in Self.notFound } }
        }
    }

    private static var notFound: Response {
        Self.response(MatrixError(404, .unrecognized, "this host has nothing of Matrix but its push gateway"))
    }

    private static var methodNotAllowed: Response {
        var response = Self.response(MatrixError(405, .unrecognized, "this path knows POST only"))
        response.headers[.allow] = "POST"
        return response
    }

    @Sendable private func notify(_ request: Request, _ context: APIContext) async -> Response {
        let start = ContinuousClock.now
        let response: Response
        do {
            let client = BudgetCaller(clientOf: context.channel)
            try self.budgets[.matrixRequests].spend(for: client)
            let (body, permit) = try await self.body(of: request, for: client)
            defer { permit.end() }
            let rejected = try await self.gateway.notify(body, holding: permit, from: client, on: context.channel)
            response = Self.response(rejecting: rejected)
        } catch {
            response = Self.response(await self.matrixError(error))
        }
        let (status, duration) = (response.status.code, ContinuousClock.now - start)
        guard status == 200 else {
            self.runner.metrics.count(Self.operation, status: status, duration: duration)
            return response
        }
        self.accepted.count.increment()
        self.accepted.time.record(duration: duration)
        return response
    }

    /// Reads a request body. Its bytes are charged to the budget as they arrive, so that a large `content-length` alone
    /// reserves nothing.
    /// - Returns: The body, and a permit for the memory that its processing needs.
    private func body(
        of request: Request,
        for client: BudgetCaller
    ) async throws -> (bytes: [UInt8], permit: BudgetPermit) {
        let most = MatrixNotification.maximumBody
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > most {
            throw NIOTooManyBytesError(maxBytes: most)
        }
        var (bytes, permits, taken) = ([UInt8](), [BudgetPermit](), 0)
        for try await part in request.body {
            let length = bytes.count + part.readableBytes
            guard length <= most else { throw NIOTooManyBytesError(maxBytes: most) }
            if length > taken {
                let more = max(Self.leastTaken, length - taken)
                permits.append(try self.budgets[.matrixBytes].take(more, for: client))
                taken += more
            }
            bytes.append(contentsOf: part.readableBytesView)
        }
        for permit in permits { permit.end() }
        return (bytes, try self.budgets[.matrixBytes].take(Self.size(ofRequest: bytes.count), for: client))
    }

    /// The minimum number of bytes that are charged to the budget in one step. A slowly arriving body thus reserves
    /// little more than its received bytes.
    private static let leastTaken = 1024

    /// Returns the memory, in bytes, that a request needs while it is processed: that of its JSON values, which are
    /// several times as large as their encoded form, and that of one payload.
    static func size(ofRequest body: Int) -> Int { 8 * body + MatrixTranslator.maximumKept }

    /// Responds to an app that asks whether pushkeys may be UnifiedPush addresses.
    ///
    /// If nothing is forwarded, the response is that of a gateway without UnifiedPush, so that the app chooses another
    /// gateway.
    @Sendable private func probe(_ request: Request, _ context: APIContext) async -> Response {
        guard (try? await self.gateway.forwardsAddresses()) == true else { return Self.methodNotAllowed }
        let body = ByteBuffer(string: #"{"unifiedpush":{"gateway":"matrix"}}"#)
        return Response(status: .ok, headers: Self.headers, body: .init(byteBuffer: body))
    }

    /// Returns the error that the homeserver receives. Logs the cause of an error that the homeserver did not cause.
    private func matrixError(_ error: any Error) async -> MatrixError {
        let place: Logger.Metadata = ["path": "/_matrix/push/v1/notify"]
        let error = (error as? BudgetRefusal).map { MatrixError($0) } ?? error
        if let error = error as? MatrixError {
            if error.code == .limitExceeded { await self.report(error, place) }
            return error
        }
        if error is NIOTooManyBytesError {
            return MatrixError(413, .tooLarge, "a body has at most \(MatrixNotification.maximumBody) bytes here")
        }
        if let (error, _) = await self.runner.failures.report(error, place) {
            return MatrixError(error.kind.status.code, .unknown, error.message)
        }
        let unknown = self.runner.failures.unknown(error, "Matrix notification could not be accepted", place)
        return MatrixError(500, .unknown, unknown.message)
    }

    /// Counts a rejection for an exceeded limit, and delays its response as the API does.
    private func report(_ error: MatrixError, _ place: Logger.Metadata) async {
        let refusal = RequestError(.rateLimited, code: "too_many_requests", message: error.message)
        _ = await self.runner.failures.report(RetryLaterError(refusal, after: error.delay ?? .zero), place)
    }

    private static func response(rejecting pushkeys: [String]) -> Response {
        var body = Self.nothingRejected
        if !pushkeys.isEmpty {
            var writer = JSONWriter()
            writer.raw(#"{"rejected":["#)
            for (index, pushkey) in pushkeys.enumerated() {
                if index > 0 { writer.raw(",") }
                writer.string(pushkey)
            }
            writer.raw("]}")
            body = ByteBuffer(bytes: writer.bytes)
        }
        return Response(status: .ok, headers: Self.headers, body: .init(byteBuffer: body))
    }

    private static func response(_ error: MatrixError) -> Response {
        var writer = JSONWriter()
        writer.raw(#"{"errcode":"#)
        writer.string(error.code.rawValue)
        writer.raw(#","error":"#)
        writer.string(error.message)
        var headers = Self.headers
        if let delay = error.delay {
            writer.raw(#","retry_after_ms":"#)
            writer.integer(max(1, delay.milliseconds))
            headers[.retryAfter] = "\(max(1, delay.components.seconds + 1))"
        }
        writer.raw("}")
        let status = HTTPResponse.Status(code: error.status)
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: writer.bytes)))
    }
}

package import Foundation
package import Hummingbird
package import PushSupport

extension APIOperation {
    /// The treatment of query items that an operation does not declare.
    package enum QueryPolicy: Sendable {
        /// An unknown or repeated item is an error, as an unknown member of a body is.
        case strict
        /// Unknown items are ignored, and the first of repeated ones counts.
        case lenient
    }

    /// Carries out a request whose caller may make it.
    ///
    /// - Parameters:
    ///   - caller: The maker of the request, if it is known.
    ///   - readBody: Reads the body of a request, up to a maximum in bytes.
    ///   - recordResource: Receives the id of what the request made.
    /// - Throws: ``RequestError``, or any error of the handler.
    package func respond(
        to request: Request,
        _ context: APIContext,
        query policy: QueryPolicy,
        caller: APICaller? = nil,
        readBody: @escaping @Sendable (Request, Int) async throws -> Data = { try await $0.wholeBody(maximum: $1) },
        recordResource: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> Response {
        let checked = OperationRequest(
            http: request,
            context: context,
            query: try self.query(of: request, policy),
            caller: caller,
            maximumBody: self.body?.maximum ?? 0,
            requiresBody: self.body?.isRequired ?? true,
            readBody: readBody,
            recordResource: recordResource
        )
        if let stream = self.body?.stream { context.channel.pipeline.fireUserInboundEventTriggered(stream) }
        switch self.cost {
        case .small: return try await self.handler(checked)
        case .query: return try await context.channel.withClientConnected { try await self.handler(checked) }
        }
    }

    /// Returns the expected length of a long response to a request, in bytes; `nil` if the response is short, or its length is not known
    /// before.
    package func expectedLength(of request: Request) -> Int? {
        guard let (entry, maximum) = self.pageLength else { return nil }
        let text = request.uri.queryParameters["limit"]
        // Any other limit is refused.
        guard let limit = text.map({ Int64($0) }) ?? PageSize.standard, PageSize.range.contains(limit)
        else { return nil }
        let length = min(entry * Int(limit), maximum)
        return length > Budget.uncountedBodyLength ? length : nil
    }

    /// Returns the declared query items, percent-decoded.
    /// - Throws: ``RequestError`` for one with a NUL, at which the store's texts end, and for what the policy does not allow.
    private func query(of request: Request, _ policy: QueryPolicy) throws -> [String: String] {
        let known = self.parameters.filter { $0.place == .query }.map(\.name)
        let items = request.uri.queryParameters.map { (String($0.key), String($0.value)) }
        for (name, value) in items where known.contains(name) && value.utf8.contains(0) {
            throw RequestError.invalid(name, "it must not have a NUL")
        }
        guard policy == .strict else {
            return Dictionary(items.filter { known.contains($0.0) }, uniquingKeysWith: { first, _ in first })
        }
        var query: [String: String] = [:]
        for (name, value) in items {
            guard known.contains(name) else {
                let message = "known here: \(known.isEmpty ? "nothing" : known.joined(separator: ", "))"
                let path = String(name.prefix(100))
                throw RequestError(.invalid, code: "unknown_parameter", message: message, path: path)
            }
            guard query.updateValue(value, forKey: name) == nil else {
                throw RequestError.invalid(name, "give it once")
            }
        }
        return query
    }
}

extension Router where Context == APIContext {
    /// Adds a route for each operation.
    ///
    /// - Parameter respond: Carries out a request, usually by ``APIOperation/respond(to:_:query:caller:readBody:recordResource:)``.
    package func add<Scope>(
        _ operations: [APIOperation<Scope>],
        respond: @escaping @Sendable (APIOperation<Scope>, Request, APIContext) async throws -> Response
    ) {
        for operation in operations {
            self.on(RouterPath(operation.path), method: operation.method) { request, context in
                try await respond(operation, request, context)
            }
        }
    }
}

import Foundation
import Hummingbird
import PushHTTP
import PushSupport
import PushTypes

/// `/v1/feedback`: what waits for providers at the feedback door. Looking at it here takes nothing away.
struct FeedbackController: AdminRoutes {
    let feedback: FeedbackRecorder

    private struct Entry: Encodable {
        /// When the app was found to be gone.
        var sinceMs: Int64
        var environment: String
        var topic: String
        var token: String
    }

    func addRoutes(to group: RouterGroup<AdminContext>) {
        group.get("feedback", use: self.list)
    }

    @Sendable private func list(_ request: Request, _ context: AdminContext) async throws -> Response {
        let limit = Int(try request.number("limit", in: 1...1000, default: 100))
        let topic = request.uri.queryParameters["topic"].map(String.init)
        var entries: [Entry] = []
        for environment in try Self.environments(request) {
            let found = try await self.feedback.list(environment).newest(topic: topic, limit: limit - entries.count)
            entries += found.map {
                Entry(
                    sinceMs: $0.time.milliseconds,
                    environment: environment.rawValue,
                    topic: $0.topic.name,
                    token: $0.token.hex
                )
            }
        }
        return try JSONResponse.make(.ok, ["feedback": entries])
    }

    private static func environments(_ request: Request) throws -> [PushEnvironment] {
        guard let text = request.uri.queryParameters["environment"] else { return [.sandbox, .production] }
        guard let environment = PushEnvironment(rawValue: String(text)) else {
            throw RequestError(
                .invalid,
                code: "invalid_environment",
                message: "use sandbox or production",
                path: "environment"
            )
        }
        return [environment]
    }
}

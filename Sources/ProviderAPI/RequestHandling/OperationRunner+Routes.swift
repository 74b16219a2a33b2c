import HTTPTypes
package import Hummingbird
package import Logging
import PushHTTP
package import PushSupport

extension OperationRunner {
    /// Runs the handler of a route beside `/v1`: counts its response, and turns an error into one that the route's clients
    /// understand.
    ///
    /// - Parameters:
    ///   - operation: The name of the operation at `/metrics`.
    ///   - place: Where it happens, for the log, because a path may have a secret.
    ///   - failure: Makes the response to an error.
    package func respond(
        _ operation: String,
        at place: Logger.Metadata,
        failure: (RequestError) -> Response,
        _ body: () async throws -> Response
    ) async -> Response {
        let start = ContinuousClock.now
        var response: Response
        do {
            response = try await body()
        } catch let error as RequestError {
            response = failure(error)
        } catch {
            if let (error, headers) = await self.failures.report(error, place) {
                response = failure(error)
                // The delay that is known takes the place of a usual one.
                for field in headers { response.headers[field.name] = field.value }
            } else {
                response = failure(self.failures.unknown(error, "request could not be processed", place))
            }
        }
        self.metrics.count(operation, status: response.status.code, duration: ContinuousClock.now - start)
        return response
    }
}

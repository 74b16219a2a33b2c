import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import PushTypes

extension PageRequest {
    var publishingPath: String { "\(self.appPath)/publishing" }

    func publicationPath(_ id: String) -> String { "\(self.publishingPath)/\(URLText.encoded(id))" }

    func issuePath(_ id: String) -> String { "\(self.publishingPath)/issues/\(URLText.encoded(id))" }

    var publicationAPI: String { "/v1/publications/\(URLText.encoded(self.parameter("publication")))" }

    var issueAPI: String { "/v1/issues/\(URLText.encoded(self.parameter("issue")))" }

    /// Returns the publication at an API path.
    /// - Throws: ``RequestError`` if the publication does not exist or belongs to another app.
    func publication(at path: String) async throws -> PublicationResponse {
        let response = try await self.get(path, as: PublicationResponse.self)
        guard response.app?.name == self.app else { throw RequestError.noSuch("publication") }
        return response
    }

    /// Returns the issue that the page shows, and its publication.
    /// - Throws: ``RequestError`` if the issue does not exist or belongs to another app.
    func issue() async throws -> (issue: IssueResponse, publication: PublicationResponse) {
        let response = try await self.get(self.issueAPI, as: IssueResponse.self)
        return (response, try await self.publication(at: "/v1/publications/\(response.issue.publication)"))
    }

    /// Returns the trimmed value of a field, or `nil` if it is empty.
    func typed(_ name: String) -> String? {
        let text = (self.form[name] ?? "").trimmingSpaces
        return text.isEmpty ? nil : text
    }
}

extension String {
    fileprivate var trimmingSpaces: String {
        let scalars = self.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(scalars[first...last])
    }
}

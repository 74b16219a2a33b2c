import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import PushTypes

/// The requests and the paths that the pages of publishing share.
extension PageRequest {
    /// The path of the page of the app's publications, below ``Dashboard/root``.
    var publishingPath: String { "\(self.appPath)/publishing" }

    /// Returns the path of a publication's page, below ``Dashboard/root``.
    func publicationPath(_ id: String) -> String { "\(self.publishingPath)/\(URLText.encoded(id))" }

    /// Returns the path of an issue's page, below ``Dashboard/root``.
    func issuePath(_ id: String) -> String { "\(self.publishingPath)/issues/\(URLText.encoded(id))" }

    /// The path of the page's publication in the API.
    var publicationAPI: String { "/v1/publications/\(URLText.encoded(self.parameter("publication")))" }

    /// The path of the page's issue in the API.
    var issueAPI: String { "/v1/issues/\(URLText.encoded(self.parameter("issue")))" }

    /// Returns the publication that a path names.
    ///
    /// - Throws: ``RequestError`` if there is none, or if it belongs to another app.
    func publication(at path: String) async throws -> PublicationResponse {
        let response = try await self.get(path, as: PublicationResponse.self)
        guard response.app?.name == self.app else { throw RequestError.noSuch("publication") }
        return response
    }

    /// Returns the page's issue and its publication.
    ///
    /// - Throws: ``RequestError`` if there is none, or if it belongs to another app.
    func issue() async throws -> (issue: IssueResponse, publication: PublicationResponse) {
        let response = try await self.get(self.issueAPI, as: IssueResponse.self)
        return (response, try await self.publication(at: "/v1/publications/\(response.issue.publication)"))
    }

    /// Returns the value of a field without the spaces around it; `nil` for an empty one.
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

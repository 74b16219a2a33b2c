import ProviderAPI
import PushStore
import WebPages

/// An issue in a page.
enum IssueModel {
    /// Returns the values of an issue in lists and in its page.
    static func row(_ response: IssueResponse, _ request: PageRequest) -> PageModel {
        let issue = response.issue
        var model = PageValue.members(response)
        model["path"] = "\(Dashboard.root)\(request.issuePath("\(issue.id)"))"
        model["stateLabel"] = StateLabel.model(issue.state.rawValue, request.texts)
        model["accessText"] = request.texts["publishing.access.\(issue.access.rawValue)"]
        model["sizeText"] = issue.renditions.map(\.screenSize.description).joined(separator: ", ")
        model["isNotified"] = issue.notification != nil
        for name in ["number", "publishedAt", "notification"] where model[name] == nil { model[name] = false }
        return model
    }

    /// Returns the values of a file.
    static func file(_ file: FileResponse) -> PageModel {
        var model = PageValue.members(file)
        model["shortHash"] = "\(file.hash.prefix(8))…\(file.hash.suffix(8))"
        return model
    }
}

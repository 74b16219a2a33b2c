import PushSupport
import WebPages

/// An issue in a page.
enum IssueModel {
    /// Returns the values of an issue in lists and in its page.
    static func row(_ issue: JSONValue, _ request: PageRequest) -> PageModel {
        var model = PageValue.members(issue)
        let state = issue["state"].stringValue ?? ""
        model["path"] = "\(Dashboard.root)\(request.issuePath(issue["id"].stringValue ?? ""))"
        model["stateLabel"] = StateLabel.model(state, request.texts)
        model["accessText"] = request.texts["publishing.access.\(issue["access"].stringValue ?? "")"]
        model["sizeText"] = self.sizes(issue)
        model["isNotified"] = issue["notification"] != .null
        for name in ["number", "publishedAt", "notification"] where model[name] == nil { model[name] = false }
        return model
    }

    /// Returns the screen sizes of an issue in one line.
    static func sizes(_ issue: JSONValue) -> String {
        issue["renditions"].elements.compactMap(\.["screenSize"].stringValue).joined(separator: ", ")
    }

    /// Returns the values of a file.
    static func file(_ file: JSONValue) -> PageModel {
        var model = PageValue.members(file)
        let hash = file["sha256"].stringValue ?? ""
        model["shortHash"] = hash.count > 16 ? "\(hash.prefix(8))…\(hash.suffix(8))" : hash
        return model
    }
}
